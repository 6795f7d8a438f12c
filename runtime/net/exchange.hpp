#pragma once

#include "runtime/net/endpoint.hpp"
#include "runtime/values/ids.hpp"
#include "runtime/values/payload.hpp"
#include "runtime/values/stamp.hpp"

#include <thalweg/result.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// The data plane of a node: whole messages with their bulk, from node to node, beside the control plane.
/// Above it the actors (actors/postman.hpp); below it sockets (asio_exchange.hpp) or, in one process, nothing
/// at all (memory_exchange.hpp).
namespace thalweg::net {

/// One node, in one of its lives.
struct PeerId {
  NodeNumber node;
  Incarnation incarnation;
  friend constexpr auto operator<=>(const PeerId&, const PeerId&) = default;
};

/// A message as it crosses from node to node.
struct Parcel {
  Stamp stamp;                    ///< `stamp.kind` names what `body` encodes
  std::uint64_t to = 0;           ///< which actor of the receiving node; opaque here
  std::vector<std::byte> body;    ///< everything but the bulk
  std::vector<Payload> payloads;  ///< the bulk, in host memory; a null one arrives as a null one
  /// While it waits, a later one like it for the same actor takes its place: a slow link, or a receiver that
  /// stands still, then holds one of them and not all.
  bool newest_only = false;
};

/// Memory for one payload that is about to arrive.
struct Landing {
  Payload vector;           ///< what the receiver will be given
  std::span<float> values;  ///< its floats, to be written; empty with a null vector: no memory, for now
};

/// Who hears of what an exchange does. Called on the exchange's own thread: must neither block nor throw.
class ExchangeListener {
 public:
  virtual ~ExchangeListener() = default;
  /// Memory for `floats` floats that `from` is sending. An empty landing: none is free; the exchange stops
  /// reading from that peer and asks again after a millisecond.
  virtual Landing land(PeerId from, std::size_t floats) = 0;
  /// A whole parcel is here and its checksums hold. Parcels of one peer arrive in the order they were sent.
  virtual void arrived(PeerId from, Parcel parcel) = 0;
  /// The connection with `peer` stands; either side may have opened it.
  virtual void opened(PeerId peer) = 0;
  /// It is gone, or could not be made; `why` in words. Nothing sent after the last whole parcel arrives.
  virtual void lost(PeerId peer, const std::string& why) = 0;
};

class Exchange {
 public:
  struct Gauges {
    std::uint64_t bytes_sent = 0, bytes_received = 0;
    std::uint64_t parcels_waiting = 0;  ///< handed over and not yet on the wire whole
    std::uint64_t bytes_waiting = 0;    ///< of their payloads
  };

  virtual ~Exchange() = default;

  /// Where this node takes connections.
  [[nodiscard]] virtual Endpoint local() const = 0;

  /// Opens a connection to `peer`, which listens at one of `at`, unless there is one. Any thread; `opened` or
  /// `lost` follows.
  virtual void connect(PeerId peer, std::vector<Endpoint> at) = 0;

  /// Queues `parcel` for `to`. Any thread, never blocks. Without a connection it is dropped and counted.
  virtual void send(PeerId to, Parcel parcel) = 0;

  /// Closes the connection with `peer`, and takes no more from this incarnation. Any thread.
  virtual void fence(PeerId peer) = 0;

  [[nodiscard]] virtual Gauges gauges(PeerId peer) const = 0;
};

}  // namespace thalweg::net
