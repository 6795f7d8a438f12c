#include "runtime/net/inbox.hpp"

#include "runtime/check.hpp"
#include "runtime/wire/crc32c.hpp"

#include <fmt/format.h>

namespace thalweg::net {
namespace {

Error wrong(std::string text) { return {ErrorCode::corrupt, std::move(text)}; }

}  // namespace

Result<std::span<std::byte>> Inbox::begin(const wire::Frame& frame) {
  if (const auto* head = std::get_if<wire::ParcelHead>(&frame.content)) return begin_parcel(*head);
  return begin_chunk(std::get<wire::ChunkHead>(frame.content));
}

Result<std::span<std::byte>> Inbox::begin_parcel(const wire::ParcelHead& head) {
  if (parcel_) return wrong("a parcel begins before the last one is whole");
  if (head.sequence != sequence_) {
    return wrong(fmt::format("parcel {} where {} was expected", head.sequence, sequence_));
  }
  parcel_.emplace();
  parcel_->stamp = head.stamp;
  parcel_->to = head.to;
  parcel_->body.resize(head.body_bytes);
  parcel_->payloads.resize(head.payloads);
  floats_ = head.floats;
  crc_ = head.body_crc;
  body_ = parcel_->body;
  return body_;
}

Result<std::span<std::byte>> Inbox::begin_chunk(const wire::ChunkHead& head) {
  if (!parcel_ || head.sequence != sequence_) return wrong("a chunk of a parcel that has not begun");
  if (head.payload != payload_ || head.offset != offset_) return wrong("a chunk out of order");
  const auto landing = landings_[payload_];
  if (head.bytes > landing.size() - offset_) return wrong("a chunk reaches past its payload's end");
  crc_ = head.crc;
  body_ = landing.subspan(offset_, head.bytes);
  return body_;
}

Status Inbox::finish() {
  if (options_.checksums && wire::crc32c(body_) != crc_) return wrong("a body's checksum is wrong");
  if (!in_place_) return {};
  offset_ += body_.size();
  skip_finished_payloads();
  return {};
}

bool Inbox::ready() {
  if (!parcel_ || in_place_) return true;
  while (landings_.size() < parcel_->payloads.size()) {
    const std::uint64_t floats = floats_[landings_.size()];
    if (floats == wire::null_payload) {
      landings_.emplace_back();
      continue;
    }
    Landing landing = listener_.land(options_.from, floats);
    if (!landing.vector) return false;
    THALWEG_CHECK(landing.values.size() == floats, "a landing is as large as what is to land");
    parcel_->payloads[landings_.size()] = std::move(landing.vector);
    landings_.push_back(std::as_writable_bytes(landing.values));
  }
  in_place_ = true;
  skip_finished_payloads();
  return true;
}

void Inbox::skip_finished_payloads() {
  while (payload_ < landings_.size() && offset_ == landings_[payload_].size()) {
    ++payload_;
    offset_ = 0;
  }
}

Parcel Inbox::release() {
  THALWEG_CHECK(whole(), "only a whole parcel is handed on");
  Parcel parcel = std::move(*parcel_);
  parcel_.reset();
  landings_.clear();
  in_place_ = false;
  payload_ = offset_ = 0;
  ++sequence_;
  return parcel;
}

}  // namespace thalweg::net
