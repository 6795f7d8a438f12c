#include "runtime/net/outbox.hpp"

#include "runtime/check.hpp"
#include "runtime/wire/crc32c.hpp"

#include <algorithm>
#include <bit>

namespace thalweg::net {

static_assert(std::endian::native == std::endian::little, "payloads go onto the wire as they lie in memory");

Outbox::~Outbox() {
  std::uint64_t bytes = 0;
  for (const Parcel& parcel : parcels_) bytes += payload_bytes(parcel);
  if (!parcels_.empty()) {
    for (std::size_t i = 0; i < payload_; ++i) {
      const Payload& payload = parcels_.front().payloads[i];
      bytes -= payload ? payload->bytes() : 0;
    }
    bytes -= offset_;
  }
  traffic_->bytes_waiting -= bytes;
  traffic_->parcels_waiting -= parcels_.size();
  traffic_->parcels_dropped += parcels_.size();
}

void Outbox::push(Parcel parcel) {
  THALWEG_CHECK(parcel.body.size() <= wire::body_bytes_max, "a parcel's body has at most 1 MiB");
  THALWEG_CHECK(parcel.payloads.size() <= wire::payloads_max, "a parcel has at most 4 payloads");
  for (const Payload& payload : parcel.payloads) {
    THALWEG_CHECK(!payload || payload->host().size() == payload->size(), "payloads are in host memory");
  }
  if (parcel.newest_only && take_place_of_older(parcel)) return;
  parcels_.push_back(std::move(parcel));
}

/// In the older one's place, not behind everybody: otherwise of two actors of a node the same one would be
/// sent to each time.
bool Outbox::take_place_of_older(Parcel& parcel) {
  const bool begun = head_written_ || handed_out_ > 0;
  const auto waiting = parcels_.rend() - (begun ? 1 : 0);
  const auto last = std::find_if(parcels_.rbegin(), waiting,
                                 [&parcel](const Parcel& each) { return each.to == parcel.to; });
  if (last == waiting || !last->newest_only) return false;
  --traffic_->parcels_waiting;
  traffic_->bytes_waiting -= payload_bytes(*last);
  *last = std::move(parcel);
  return true;
}

Outbox::Piece Outbox::head_piece() const {
  const Parcel& parcel = parcels_.front();
  wire::ParcelHead head;
  head.sequence = sequence_;
  head.stamp = parcel.stamp;
  head.to = parcel.to;
  head.body_bytes = static_cast<std::uint32_t>(parcel.body.size());
  head.body_crc = options_.checksums ? wire::crc32c(parcel.body) : 0;
  head.payloads = static_cast<std::uint16_t>(parcel.payloads.size());
  std::ranges::transform(parcel.payloads, head.floats.begin(), [](const Payload& payload) {
    return payload ? payload->size() : wire::null_payload;
  });
  return {wire::encode({options_.self.node, options_.self.incarnation, head}), parcel.body};
}

std::size_t Outbox::next_body_bytes() const {
  const Parcel& parcel = parcels_.front();
  if (!head_written_) return parcel.body.size();
  // Four pieces with their headers fill the window, so that credits for the first ones keep the last ones
  // moving.
  const std::size_t quarter = static_cast<std::size_t>(options_.window / 4) - wire::header_bytes;
  return std::min({options_.chunk_bytes, quarter, parcel.payloads[payload_]->bytes() - offset_});
}

Outbox::Piece Outbox::chunk_piece() const {
  const auto bytes = std::as_bytes(parcels_.front().payloads[payload_]->host());
  const auto body = bytes.subspan(offset_, next_body_bytes());
  wire::ChunkHead head;
  head.sequence = sequence_;
  head.offset = offset_;
  head.payload = static_cast<std::uint16_t>(payload_);
  head.bytes = static_cast<std::uint32_t>(body.size());
  head.crc = options_.checksums ? wire::crc32c(body) : 0;
  return {wire::encode({options_.self.node, options_.self.incarnation, head}), body};
}

std::optional<Outbox::Piece> Outbox::next() {
  THALWEG_CHECK(handed_out_ == 0, "one piece is written at a time");
  if (parcels_.empty()) return {};
  const std::uint64_t bytes = wire::header_bytes + next_body_bytes();
  if (in_flight() > 0 && in_flight() + bytes > options_.window) return {};
  Piece piece = head_written_ ? chunk_piece() : head_piece();
  handed_out_ = bytes;
  sent_ += bytes;
  return piece;
}

void Outbox::written() {
  const std::uint64_t bytes = std::exchange(handed_out_, 0) - wire::header_bytes;
  if (head_written_) {
    offset_ += bytes;
    traffic_->bytes_waiting -= bytes;
  }
  head_written_ = true;
  skip_finished_payloads();
  if (payload_ < parcels_.front().payloads.size()) return;
  parcels_.pop_front();
  --traffic_->parcels_waiting;
  head_written_ = false;
  payload_ = offset_ = 0;
  ++sequence_;
}

void Outbox::skip_finished_payloads() {
  const auto& payloads = parcels_.front().payloads;
  while (payload_ < payloads.size() && (!payloads[payload_] || payloads[payload_]->bytes() == offset_)) {
    ++payload_;
    offset_ = 0;
  }
}

bool Outbox::acknowledge(std::uint64_t received) {
  if (received < acknowledged_ || received > sent_) return false;
  acknowledged_ = received;
  return true;
}

}  // namespace thalweg::net
