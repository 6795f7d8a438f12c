#pragma once

#include "runtime/net/exchange.hpp"
#include "runtime/wire/frame.hpp"

#include <optional>

/// The parcel that is arriving on one connection: before it the socket, after it the listener. Frames go in
/// one by one; for each it says where its body belongs, which for a payload is the memory that the listener
/// gave. Knows no socket; on the exchange's thread.
namespace thalweg::net {

class Inbox {
 public:
  struct Options {
    PeerId from;
    bool checksums = true;
  };

  Inbox(const Options& options, ExchangeListener& listener) : options_(options), listener_(listener) {}

  /// `frame` is next: where its body is to be put. Requires: it holds a ParcelHead or a ChunkHead, decoded
  /// within the limits; ready(). Fails: `corrupt`, when it does not follow what came before.
  Result<std::span<std::byte>> begin(const wire::Frame& frame);
  /// The body is there. Fails: `corrupt`, when its checksum is wrong.
  Status finish();

  /// Asks the listener for memory that is still missing. False: there is none; no frame can be taken.
  bool ready();
  /// A parcel has begun and is not whole.
  [[nodiscard]] bool under_way() const { return parcel_.has_value() && !whole(); }
  [[nodiscard]] bool whole() const { return parcel_ && in_place_ && payload_ == parcel_->payloads.size(); }
  /// The whole parcel. Requires: whole().
  Parcel release();

 private:
  Result<std::span<std::byte>> begin_parcel(const wire::ParcelHead& head);
  Result<std::span<std::byte>> begin_chunk(const wire::ChunkHead& head);
  void skip_finished_payloads();

  Options options_;
  ExchangeListener& listener_;
  std::uint64_t sequence_ = 0;
  std::optional<Parcel> parcel_;
  std::array<std::uint64_t, wire::payloads_max> floats_{};
  std::vector<std::span<std::byte>> landings_;  ///< of the payloads that have memory; empty for null ones
  bool in_place_ = false;                       ///< the body is there and all payloads have memory
  std::size_t payload_ = 0;                     ///< that is being filled
  std::size_t offset_ = 0;                      ///< bytes of it
  std::span<std::byte> body_;                   ///< of the frame that is being read
  std::uint32_t crc_ = 0;
};

}  // namespace thalweg::net
