#pragma once

#include "runtime/net/exchange.hpp"

#include <atomic>

namespace thalweg::net {

/// What Exchange::gauges() reads of one peer. Written by the exchange's thread and by senders, read by any.
struct Traffic {
  std::atomic<std::uint64_t> bytes_sent = 0, bytes_received = 0;
  std::atomic<std::uint64_t> parcels_waiting = 0, bytes_waiting = 0;
  std::atomic<std::uint64_t> parcels_dropped = 0;  ///< without a connection, or lost with one

  [[nodiscard]] Exchange::Gauges read() const {
    return {bytes_sent.load(), bytes_received.load(), parcels_waiting.load(), bytes_waiting.load()};
  }
};

/// Bytes of the payloads of `parcel`.
inline std::uint64_t payload_bytes(const Parcel& parcel) {
  std::uint64_t bytes = 0;
  for (const Payload& payload : parcel.payloads) bytes += payload ? payload->bytes() : 0;
  return bytes;
}

}  // namespace thalweg::net
