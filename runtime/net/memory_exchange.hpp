#pragma once

#include "runtime/net/exchange.hpp"

#include <memory>

/// The data plane between nodes that are in one process, as those of a test are: what was sent arrives, in
/// order, and nothing is copied: the receiver holds the sender's payloads.
namespace thalweg::net {

/// Where such nodes meet. Outlives every exchange it opened. Any thread.
class MemoryNetwork {
 public:
  enum class Delivery {
    thread,  ///< listeners are called on a thread of the network's own
    pumped,  ///< listeners are called inside pump(), so that a test decides when
  };

  explicit MemoryNetwork(Delivery delivery);
  MemoryNetwork(const MemoryNetwork&) = delete;
  MemoryNetwork& operator=(const MemoryNetwork&) = delete;
  ~MemoryNetwork();

  /// The node `self`, which `listener` stands for; `listener` outlives the exchange. Destroying the exchange
  /// closes its connections, and once that is done `listener` is not called any more.
  /// Requires: no exchange of `self` is open; an exchange is not destroyed from inside a call to its
  /// listener.
  std::unique_ptr<Exchange> open(PeerId self, ExchangeListener& listener);

  /// Between the nodes `one` and `other`, in all their incarnations: while `on`, what is under way is lost,
  /// connections are lost on both sides, and none can be opened.
  void partition(NodeNumber one, NodeNumber other, bool on);

  /// Delivers the next event, in the order in which they were caused. False: there is none.
  /// Requires: Delivery::pumped; one thread at a time.
  bool pump();
  /// Until there is none; returns how many there were.
  std::size_t pump_all();

 private:
  friend class MemoryExchange;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace thalweg::net
