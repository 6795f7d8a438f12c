#pragma once

#include "actors/directory.hpp"
#include "actors/node_context.hpp"
#include "actors/parcel_receiver.hpp"
#include "actors/postman.hpp"
#include "actors/stand_in.hpp"
#include "runtime/net/credentials.hpp"
#include "runtime/net/exchange.hpp"

#include <thalweg/config.hpp>
#include <thalweg/result.hpp>

#include <caf/actor_system.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

/// Everything between a node's actors and the wire, put together: directory, postman, stand-ins and, once the
/// run is known, the data plane. One per node; lives inside the actor system, and ends before it.
namespace thalweg::actors {

/// The data plane as stand-ins see it: before it is open, and after it is closed, what is sent is lost.
class ExchangeSlot final : public net::Exchange {
 public:
  /// Requires: nobody sends yet.
  void put(std::unique_ptr<net::Exchange> exchange) { exchange_ = std::move(exchange); }
  /// Requires: nobody sends any more.
  void close() { exchange_.reset(); }
  [[nodiscard]] bool open() const { return exchange_ != nullptr; }

  [[nodiscard]] net::Endpoint local() const override {
    return exchange_ ? exchange_->local() : net::Endpoint{};
  }
  void connect(net::PeerId peer, std::vector<net::Endpoint> at) override {
    if (exchange_) exchange_->connect(peer, std::move(at));
  }
  void send(net::PeerId to, net::Parcel parcel) override {
    if (exchange_) exchange_->send(to, std::move(parcel));
  }
  void fence(net::PeerId peer) override {
    if (exchange_) exchange_->fence(peer);
  }
  [[nodiscard]] Gauges gauges(net::PeerId peer) const override {
    return exchange_ ? exchange_->gauges(peer) : Gauges{};
  }

 private:
  std::unique_ptr<net::Exchange> exchange_;
};

class NodePost {
 public:
  struct Options {
    /// On threads of the postman and the exchange; must not block. `data`: by the exchange.
    std::function<void(net::PeerId, bool data)> met;
    std::function<void(net::PeerId, bool data, const std::string& why)> parted;
    std::function<void(const std::string&)> complaint = {};
    std::function<void(const Parameters&)> parameters = {};  ///< as Directory::Options
  };
  struct DataOptions {
    std::string host;  ///< to listen at, on any free port; empty: everywhere
    net::Credentials credentials;
    std::string run;         ///< its id, 32 hexadecimal digits
    std::size_t floats = 0;  ///< of the run's vectors
  };

  /// Requires: `context` and `system` outlive this.
  NodePost(const NodeContext& context, caf::actor_system& system, Options options);
  ~NodePost();
  NodePost(const NodePost&) = delete;
  NodePost& operator=(const NodePost&) = delete;

  /// Opens the data plane, as the job says. Before anything with vectors is sent. Returns where others reach
  /// it. Fails: as AsioExchange::open.
  Result<std::vector<std::string>> open_data(const Config& config, const DataOptions& options);

  template <class Handle>
  Handle stand_in(Address at) {
    return spawn_stand_in<Handle>(system_, {at, &directory_, &exchange_});
  }
  /// The feeder of another node: the same stand-in every time, so that who asks twice knows it again. Any
  /// thread.
  FeederHandle feeder(NodeNumber node);
  /// Lets go of all actors, so that the system can wait for them to end; they may still send meanwhile.
  /// To be called once everything that has neighbours was told to end.
  void close();

  /// Nothing more is taken from `peer`, by either plane.
  void fence(net::PeerId peer);

  [[nodiscard]] Directory& directory() { return directory_; }
  [[nodiscard]] StandIns& stand_ins() { return stand_ins_; }
  [[nodiscard]] ExchangeSlot& exchange() { return exchange_; }
  [[nodiscard]] const LocalPostmanHandle& postman() const { return postman_; }
  [[nodiscard]] caf::actor_system& system() { return system_; }

 private:
  const NodeContext& context_;
  caf::actor_system& system_;
  Options options_;
  Directory directory_;
  ExchangeSlot exchange_;
  StandIns stand_ins_;
  std::mutex feeders_mutex_;
  std::map<NodeNumber, FeederHandle> feeders_;
  std::unique_ptr<ParcelReceiver> receiver_;
  LocalPostmanHandle postman_;
};

/// "host:port" of each; what is none is left out.
std::vector<net::Endpoint> endpoints_of(const std::vector<std::string>& texts);

/// Where others can reach what listens at `host` (empty: everywhere) on `port`: `host` itself, or, when it
/// stands for all, the addresses of this machine. Loopback only when there are no others: to another host it
/// would be that host itself.
std::vector<std::string> advertised(const std::string& host, std::uint16_t port);

}  // namespace thalweg::actors
