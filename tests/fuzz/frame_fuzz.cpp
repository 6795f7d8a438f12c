#include "runtime/check.hpp"
#include "runtime/config/text.hpp"
#include "runtime/wire/crc32c.hpp"
#include "runtime/wire/frame.hpp"

#include <algorithm>
#include <cstdint>

/// Headers of frames, as a peer sends them. An input is a header, looked at as it is and, so that changed
/// fields are not all stopped by it, with its checksum set right. Whatever decodes is within the limits and
/// is spelled exactly as encoding it spells it; whatever does not gets a message of one line.
namespace thalweg::fuzz {
namespace {

constexpr wire::Limits limits{.payload_floats = 1U << 20};

void check_parcel(const wire::ParcelHead& parcel) {
  THALWEG_CHECK(parcel.payloads <= wire::payloads_max, "a parcel has few payloads");
  for (const std::uint64_t floats : parcel.floats) {
    THALWEG_CHECK(floats == wire::null_payload || floats <= limits.payload_floats, "a payload has its limit");
  }
}

void check(std::span<const std::byte> header) {
  const auto frame = wire::decode(header, limits);
  if (!frame.ok()) {
    THALWEG_CHECK(frame.error().code == ErrorCode::corrupt, "bytes can only be corrupt");
    THALWEG_CHECK(config::is_plain_text(frame.error().text), "a message is one line of plain text");
    return;
  }
  THALWEG_CHECK(frame->body_bytes() <= wire::body_bytes_max, "a body has its limit");
  THALWEG_CHECK(std::ranges::equal(wire::encode(*frame), header), "a frame has one spelling");
  if (const auto* parcel = std::get_if<wire::ParcelHead>(&frame->content)) check_parcel(*parcel);
}

}  // namespace
}  // namespace thalweg::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace thalweg;
  const auto bytes = std::as_bytes(std::span(data, size));
  fuzz::check(bytes);
  wire::Header header{};
  std::ranges::copy(bytes.first(std::min(bytes.size(), header.size())), header.begin());
  const std::uint32_t crc = wire::crc32c(std::span(header).first(header.size() - 4));
  for (std::size_t i = 0; i < 4; ++i) header[header.size() - 4 + i] = static_cast<std::byte>(crc >> (8 * i));
  fuzz::check(header);
  return 0;
}
