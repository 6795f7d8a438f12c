#include "runtime/net/memory_exchange.hpp"

#include "runtime/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

namespace thalweg::net {
namespace {

/// One direction: who sends, and to whom.
using Way = std::pair<PeerId, PeerId>;

/// A pair of nodes, in either order.
using Pair = std::pair<NodeNumber, NodeNumber>;
Pair pair_of(NodeNumber one, NodeNumber other) { return std::minmax(one, other); }

std::uint64_t bytes_of(const Parcel& parcel) {
  std::uint64_t bytes = 0;
  for (const Payload& payload : parcel.payloads) bytes += payload ? payload->bytes() : 0;
  return bytes;
}

}  // namespace

struct MemoryNetwork::State {
  struct Event {
    PeerId to;
    std::function<void(ExchangeListener&)> tell;
    std::function<void()> happen = {};  ///< instead, and with the mutex held
    std::optional<Way> way = {};        ///< of a parcel: dropped when the connection it was sent on is gone
    std::uint64_t connection = 0;       ///< that connection
    std::uint64_t payload_bytes = 0;
  };

  explicit State(Delivery with) : delivery(with) {
    if (delivery == Delivery::thread) thread = std::thread([this] { run(); });
  }
  ~State() {
    {
      const std::lock_guard lock(mutex);
      THALWEG_CHECK(listeners.empty(), "a network outlives the exchanges it opened");
      over = true;
    }
    changed.notify_all();
    if (thread.joinable()) thread.join();
  }

  void run() {
    std::unique_lock lock(mutex);
    while (!over) {
      if (!deliver_next(lock)) changed.wait(lock, [this] { return over || !events.empty(); });
    }
  }

  /// Unlocks while the listener is called.
  bool deliver_next(std::unique_lock<std::mutex>& lock) {
    if (events.empty()) return false;
    const Event event = std::move(events.front());
    events.pop_front();
    if (event.happen) {
      event.happen();
      return true;
    }
    if (event.way) {
      Exchange::Gauges& sender = gauges[*event.way];
      --sender.parcels_waiting;
      sender.bytes_waiting -= event.payload_bytes;
      const auto found = connections.find(*event.way);
      if (found == connections.end() || found->second != event.connection) return true;
      sender.bytes_sent += event.payload_bytes;
      gauges[{event.way->second, event.way->first}].bytes_received += event.payload_bytes;
    }
    const auto listener = listeners.find(event.to);
    if (listener == listeners.end()) return true;
    called = event.to;
    lock.unlock();
    event.tell(*listener->second);
    lock.lock();
    called.reset();
    changed.notify_all();
    return true;
  }

  // All below: with the mutex held.

  void push(Event event) {
    events.push_back(std::move(event));
    changed.notify_all();
  }
  void tell_lost(PeerId to, PeerId peer, std::string why) {
    push({to, [peer, why = std::move(why)](ExchangeListener& listener) { listener.lost(peer, why); }});
  }
  void tell_opened(PeerId to, PeerId peer) {
    push({to, [peer](ExchangeListener& listener) { listener.opened(peer); }});
  }

  void connect(PeerId self, PeerId peer) {
    if (!listeners.contains(self)) return;
    if (connections.contains({self, peer})) return;
    if (cut.contains(pair_of(self.node, peer.node))) return tell_lost(self, peer, "partitioned");
    if (!listeners.contains(peer)) return tell_lost(self, peer, "nobody is there");
    if (fenced.contains({self, peer}) || fenced.contains({peer, self})) {
      return tell_lost(self, peer, "fenced");
    }
    ++opened;
    connections[{self, peer}] = connections[{peer, self}] = opened;
    tell_opened(self, peer);
    tell_opened(peer, self);
  }

  void close(PeerId one, PeerId other, const std::string& why) {
    if (connections.erase({one, other}) == 0) return;
    connections.erase({other, one});
    tell_lost(one, other, why);
    tell_lost(other, one, why);
  }

  const Delivery delivery;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Event> events;
  std::map<PeerId, ExchangeListener*> listeners;
  std::map<Way, std::uint64_t> connections;  ///< both ways of each, by a number that is never used again
  std::map<Way, Exchange::Gauges> gauges;    ///< of the way's sender
  std::set<Way> fenced;                      ///< who fenced, and whom
  std::set<Pair> cut;
  std::uint64_t opened = 0;
  std::optional<PeerId> called;  ///< whose listener is being called
  bool over = false;
  std::thread thread;
};

class MemoryExchange final : public Exchange {
 public:
  MemoryExchange(MemoryNetwork::State& network, PeerId self) : network_(network), self_(self) {}

  ~MemoryExchange() override {
    std::unique_lock lock(network_.mutex);
    std::set<PeerId> peers;
    for (const auto& [way, connection] : network_.connections) {
      if (way.first == self_) peers.insert(way.second);
    }
    network_.listeners.erase(self_);
    for (const PeerId peer : peers) network_.close(self_, peer, "it was closed");
    network_.changed.wait(lock, [this] { return network_.called != self_; });
  }

  [[nodiscard]] Endpoint local() const override { return {"memory", self_.node.value}; }

  void connect(PeerId peer, std::vector<Endpoint> /*at*/) override {
    const std::lock_guard lock(network_.mutex);
    network_.push({self_, {}, [&network = network_, self = self_, peer] { network.connect(self, peer); }});
  }

  void send(PeerId to, Parcel parcel) override {
    const std::lock_guard lock(network_.mutex);
    const auto found = network_.connections.find({self_, to});
    if (found == network_.connections.end()) return;
    const std::uint64_t bytes = bytes_of(parcel);
    Gauges& gauges = network_.gauges[{self_, to}];
    ++gauges.parcels_waiting;
    gauges.bytes_waiting += bytes;
    // The handle makes the function copyable; the parcel is moved out of it, once.
    auto handle = std::make_shared<Parcel>(std::move(parcel));
    network_.push(
        {to,
         [from = self_, handle](ExchangeListener& listener) { listener.arrived(from, std::move(*handle)); },
         {},
         Way{self_, to},
         found->second,
         bytes});
  }

  void fence(PeerId peer) override {
    const std::lock_guard lock(network_.mutex);
    network_.fenced.insert({self_, peer});
    network_.close(self_, peer, "fenced");
  }

  [[nodiscard]] Gauges gauges(PeerId peer) const override {
    const std::lock_guard lock(network_.mutex);
    const auto found = network_.gauges.find({self_, peer});
    return found == network_.gauges.end() ? Gauges{} : found->second;
  }

 private:
  MemoryNetwork::State& network_;
  const PeerId self_;
};

MemoryNetwork::MemoryNetwork(Delivery delivery) : state_(std::make_unique<State>(delivery)) {}
MemoryNetwork::~MemoryNetwork() = default;

std::unique_ptr<Exchange> MemoryNetwork::open(PeerId self, ExchangeListener& listener) {
  const std::lock_guard lock(state_->mutex);
  const bool fresh = state_->listeners.emplace(self, &listener).second;
  THALWEG_CHECK(fresh, "a node has one exchange");
  return std::make_unique<MemoryExchange>(*state_, self);
}

void MemoryNetwork::partition(NodeNumber one, NodeNumber other, bool on) {
  const std::lock_guard lock(state_->mutex);
  if (!on) {
    state_->cut.erase(pair_of(one, other));
    return;
  }
  state_->cut.insert(pair_of(one, other));
  const auto connections = state_->connections;
  for (const auto& [way, connection] : connections) {
    if (pair_of(way.first.node, way.second.node) == pair_of(one, other)) {
      state_->close(way.first, way.second, "partitioned");
    }
  }
}

bool MemoryNetwork::pump() {
  THALWEG_CHECK(state_->delivery == Delivery::pumped, "a network with a thread of its own pumps itself");
  std::unique_lock lock(state_->mutex);
  return state_->deliver_next(lock);
}

std::size_t MemoryNetwork::pump_all() {
  std::size_t events = 0;
  while (pump()) ++events;
  return events;
}

}  // namespace thalweg::net
