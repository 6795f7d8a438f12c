#pragma once

#include "actors/directory.hpp"
#include "actors/messages.hpp"
#include "actors/middleman.hpp"
#include "actors/parcel_receiver.hpp"
#include "actors/postman.hpp"
#include "actors/stand_in.hpp"
#include "runtime/time/clock.hpp"
#include "tests/support/paired_exchange.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// A node without roles: everything between its actors and the wire, and actors that only write down what
/// they get.
namespace thalweg::testing {

/// What came, in order, for whoever waits.
template <class Item>
class Inbox {
 public:
  void put(Item item) {
    const std::lock_guard lock(mutex_);
    items_.push_back(std::move(item));
    changed_.notify_all();
  }
  /// The next one. Nothing: none came in time.
  std::optional<Item> take(std::chrono::milliseconds limit = std::chrono::seconds(10)) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, limit, [&] { return !items_.empty(); })) return std::nullopt;
    std::optional<Item> item(std::move(items_.front()));
    items_.pop_front();
    return item;
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return items_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
};

struct Received {
  Stamp stamp;
  actors::TravellingBody body;
};

/// An actor with handle `Handle` that puts every message into an inbox, which outlives it.
template <class Handle>
class recorder final : public Handle::base {
 public:
  recorder(caf::actor_config& cfg, Inbox<Received>* inbox) : Handle::base(cfg), inbox_(inbox) {}

 protected:
  typename Handle::behavior_type make_behavior() override { return behavior(typename Handle::signatures{}); }

 private:
  template <template <class...> class List, class... Signatures>
  typename Handle::behavior_type behavior(List<Signatures...>) {
    return {record(static_cast<Signatures*>(nullptr))...};
  }
  template <template <class...> class List, class Body, class Answer>
  auto record(caf::typed_mpi<List<Stamp, Body>, Answer>* /*signature*/) {
    return [this](const Stamp& stamp, const Body& body) {
      if constexpr (actors::travels<Body>) inbox_->put({stamp, body});
    };
  }

  Inbox<Received>* inbox_;
};

struct PostNode {
  explicit PostNode(net::PeerId id, std::vector<std::size_t> sizes = {8},
                    const std::optional<net::Credentials>& credentials = {})
      : peer(id), context(make_context(id, clock, credentials)), system(*context), receiver(options(sizes)) {
    postman =
        actors::spawn_postman(system, {&directory, &stand_ins, [this](net::PeerId other) { up.put(other); },
                                       [this](net::PeerId other, const std::string& why) {
                                         down.put({other, why});
                                       },
                                       [this](const Error& error) { complaints.put(error.text); }});
  }
  ~PostNode() {
    stand_ins.clear();
    directory.clear();
    actors::dismiss(postman);
  }
  PostNode(const PostNode&) = delete;
  PostNode& operator=(const PostNode&) = delete;

  /// Small messages and vectors go to `other` without a network between.
  void join(PostNode& other) {
    exchange.join(other.exchange);
    directory.reached(other.peer, other.postman);
  }
  template <class Handle>
  Handle spawn(Inbox<Received>& inbox) {
    return system.spawn<recorder<Handle>>(&inbox);
  }
  template <class Handle>
  Handle stand_in(actors::Address at) {
    return actors::spawn_stand_in<Handle>(system, {at, &directory, &exchange});
  }
  /// A stamp as an actor of this node would make it.
  [[nodiscard]] Stamp stamp(MessageKind kind, std::uint64_t counter = 1) const {
    return {MessageId::make(peer.node, {5}, counter), {77}, 88, 3, peer.incarnation.value, kind};
  }

  struct Lost {
    net::PeerId peer;
    std::string why;
  };

  net::PeerId peer;
  SteadyClock clock;
  // Before the actor system, whose threads may still call them while it ends.
  Inbox<net::PeerId> up;
  Inbox<Lost> down;
  Inbox<std::string> complaints;
  std::unique_ptr<actors::NodeContext> context;
  actors::Directory directory{*context, {4}};
  caf::actor_system system;
  actors::ParcelReceiver receiver;
  PairedExchange exchange{peer, receiver};
  actors::StandIns stand_ins{system, directory, exchange};
  actors::LocalPostmanHandle postman;

 private:
  static std::unique_ptr<actors::NodeContext> make_context(
      net::PeerId id, const Clock& clock, const std::optional<net::Credentials>& credentials) {
    auto context = actors::make_node_context(clock);
    context->node = id.node;
    context->incarnation = id.incarnation;
    const auto loaded = actors::load_middleman(*context, credentials);
    THALWEG_CHECK(loaded.ok(), "the test has made its keys");
    return context;
  }
  actors::ParcelReceiver::Options options(std::vector<std::size_t> sizes) {
    actors::ParcelReceiver::Options options;
    options.directory = &directory;
    options.neighbours = &stand_ins;
    options.sizes = std::move(sizes);
    options.buffers_max = 2;
    options.complaint = [this](net::PeerId, const Error& error) { complaints.put(error.text); };
    options.wrong_size = [this](net::PeerId, std::size_t floats) {
      complaints.put("wrong size " + std::to_string(floats));
    };
    return options;
  }
};

}  // namespace thalweg::testing
