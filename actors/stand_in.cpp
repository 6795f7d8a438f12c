#include "actors/stand_in.hpp"

#include "actors/envelope.hpp"
#include "actors/messages.hpp"
#include "runtime/check.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace thalweg::actors {

namespace {

void send_parcel(const StandInOptions& options, net::PeerId peer, const Stamp& stamp, Encoded encoded,
                 bool newest_only) {
  for (const auto& payload : encoded.payloads) {
    THALWEG_CHECK(payload == nullptr || payload->host().size() == payload->size(),
                  "a vector is in host memory when it leaves its node");
  }
  options.exchange->send(
      peer, {stamp, options.to.packed(), std::move(encoded.bytes), std::move(encoded.payloads), newest_only});
}

void send_envelope(const StandInOptions& options, net::PeerId peer, const Stamp& stamp,
                   const std::vector<std::byte>& bytes) {
  const auto postman = options.directory->postman_of(peer);
  if (!postman) return options.directory->count_unsent();
  std::vector<std::uint8_t> body(bytes.size());
  std::transform(bytes.begin(), bytes.end(), body.begin(),
                 [](std::byte byte) { return static_cast<std::uint8_t>(byte); });
  // Without a sender: the other node would keep a proxy for each.
  caf::anon_send(postman, Envelope(stamp, options.to, std::move(body)));
}

/// The body of a signature (Stamp, Body).
template <class Signature>
struct BodyOf;
template <template <class...> class List, class Body, class Answer>
struct BodyOf<caf::typed_mpi<List<Stamp, Body>, Answer>> {
  using type = Body;
};

template <class Handle>
class stand_in final : public Handle::base {
 public:
  stand_in(caf::actor_config& cfg, StandInOptions options) : Handle::base(cfg), options_(options) {}

 protected:
  using Behavior = typename Handle::behavior_type;
  Behavior make_behavior() override { return behavior(typename Handle::signatures{}); }

 private:
  template <template <class...> class List, class... Signatures>
  Behavior behavior(List<Signatures...>) {
    return {
        [this](const Stamp& stamp, const typename BodyOf<Signatures>::type& body) { pass(stamp, body); }...};
  }

  template <class Body>
  void pass(const Stamp& stamp, const Body& body) {
    if constexpr (travels<Body>) {
      // An actor of this node may have registered since somebody asked for a stand-in.
      if (options_.directory->hand_over(options_.to, stamp, body)) return;
      const auto peer = options_.directory->route_of(options_.to);
      if (!peer) return options_.directory->count_unsent();
      auto encoded = encode(body);
      if constexpr (is_bulk<Body>) {
        bool newest_only = false;
        if constexpr (std::is_same_v<Body, Parameters>) newest_only = body.newest_only;
        send_parcel(options_, *peer, stamp, std::move(encoded), newest_only);
      } else {
        send_envelope(options_, *peer, stamp, encoded.bytes);
      }
    } else {
      THALWEG_CHECK(travels<Body>, kind_name(kind_of<Body>) + " never leaves its node, but is sent to " +
                                       options_.to.text() + " on another");
    }
  }

  const StandInOptions options_;
};

}  // namespace

template <class Handle>
Handle spawn_stand_in(caf::actor_system& system, StandInOptions options) {
  THALWEG_CHECK(options.directory != nullptr && options.exchange != nullptr, "a stand-in knows the ways");
  return system.spawn<stand_in<Handle>>(options);
}

template MemberHandle spawn_stand_in(caf::actor_system&, StandInOptions);
template WorkerHandle spawn_stand_in(caf::actor_system&, StandInOptions);
template AggregatorHandle spawn_stand_in(caf::actor_system&, StandInOptions);
template FeederHandle spawn_stand_in(caf::actor_system&, StandInOptions);
template SchedulerHandle spawn_stand_in(caf::actor_system&, StandInOptions);
template SupervisorHandle spawn_stand_in(caf::actor_system&, StandInOptions);
template RegistrarHandle spawn_stand_in(caf::actor_system&, StandInOptions);
template HostHandle spawn_stand_in(caf::actor_system&, StandInOptions);
template InquirerHandle spawn_stand_in(caf::actor_system&, StandInOptions);

MemberHandle StandIns::member(MemberId id) {
  const Address address = address_of(id);
  if (auto local = directory_.local_member(address)) return local;
  const std::lock_guard lock(mutex_);
  auto& handle = members_[id];
  if (!handle) handle = spawn_stand_in<MemberHandle>(system_, {address, &directory_, &exchange_});
  return handle;
}

void StandIns::clear() {
  std::map<MemberId, MemberHandle> dropped;  // past the lock: letting go may end an actor
  const std::lock_guard lock(mutex_);
  std::swap(dropped, members_);
}

}  // namespace thalweg::actors
