#include "runtime/wire/frame.hpp"

#include "runtime/time/random.hpp"
#include "runtime/wire/crc32c.hpp"
#include "tests/support/same_stamp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace thalweg::wire {
namespace {

constexpr Limits limits{.payload_floats = 1'000'000};

RunId some_run() {
  RunId run;
  for (std::size_t i = 0; i < run.size(); ++i) run[i] = static_cast<std::byte>(0xa0 + i);
  return run;
}

ParcelHead some_parcel() {
  ParcelHead parcel;
  parcel.sequence = 42;
  parcel.stamp = {.id = MessageId::make({3}, {17}, 912),
                  .cause = MessageId::make({1}, {2}, 3),
                  .hlc = 0x0102030405060708,
                  .term = 9,
                  .incarnation = 0xdeadbeef,
                  .kind = MessageKind::contribution};
  parcel.to = 0x1122334455667788;
  parcel.body_bytes = 77;
  parcel.body_crc = 0x01020304;
  parcel.payloads = 3;
  parcel.floats = {1'000'000, null_payload, 0, 0};
  return parcel;
}

std::vector<Frame> one_of_each() {
  const Hello hello{some_run(), {5}, {6}, feature_checksums, 2000, 3};
  return {{{1}, {2}, hello},
          {{1}, {2}, some_parcel()},
          {{1}, {2}, ChunkHead{42, 1 << 20, 2, 4096, 0xcafef00d}},
          {{2}, {7}, Credit{1000}},
          {{1}, {2}, Bye{Farewell::silent}}};
}

/// As a peer would that knows the format and means no good.
Header sealed(Header header) {
  const std::uint32_t crc = crc32c(std::span(header).first(header_bytes - 4));
  for (std::size_t i = 0; i < 4; ++i) header[header_bytes - 4 + i] = static_cast<std::byte>(crc >> (8 * i));
  return header;
}

Header with_byte(Header header, std::size_t at, unsigned value) {
  header[at] = static_cast<std::byte>(value);
  return sealed(header);
}

std::string refusal(const Header& header) {
  const auto frame = decode(header, limits);
  if (frame.ok()) return "none";
  EXPECT_EQ(frame.error().code, ErrorCode::corrupt);
  return frame.error().text;
}

TEST(Crc32c, IsCastagnolis) {
  const std::string_view digits = "123456789";
  const auto bytes = std::as_bytes(std::span(digits));
  EXPECT_EQ(crc32c(bytes), 0xE3069283U);
  EXPECT_EQ(crc32c(bytes.subspan(4), crc32c(bytes.first(4))), 0xE3069283U);
  EXPECT_EQ(crc32c({}), 0U);
}

TEST(Frame, ComesBackAsItWas) {
  for (const Frame& frame : one_of_each()) {
    const auto again = decode(encode(frame), limits);
    ASSERT_TRUE(again.ok()) << again.error().text;
    EXPECT_EQ(again->node, frame.node);
    EXPECT_EQ(again->incarnation, frame.incarnation);
    ASSERT_EQ(again->content.index(), frame.content.index());
    EXPECT_EQ(again->body_bytes(), frame.body_bytes());
    EXPECT_EQ(encode(*again), encode(frame));
  }
}

TEST(Frame, KeepsEveryFieldOfAParcel) {
  const auto frame = decode(encode({{1}, {2}, some_parcel()}), limits);
  ASSERT_TRUE(frame.ok());
  const auto& parcel = std::get<ParcelHead>(frame->content);
  const ParcelHead expected = some_parcel();
  EXPECT_EQ(parcel.sequence, expected.sequence);
  expect_same(parcel.stamp, expected.stamp);
  EXPECT_EQ(parcel.to, expected.to);
  EXPECT_EQ(parcel.body_bytes, expected.body_bytes);
  EXPECT_EQ(parcel.body_crc, expected.body_crc);
  EXPECT_EQ(parcel.payloads, expected.payloads);
  EXPECT_EQ(parcel.floats, expected.floats);
}

TEST(Frame, LiesOnTheWireAsFormatSays) {
  const Header header = encode({{2}, {7}, Credit{1000}});
  Header expected{};
  const std::array<unsigned, 26> begin = {'T', 'H', 'L', 'W', 1, 0, 4, 0, 0, 0, 0, 0,    0,
                                          0,   0,   0,   7,   0, 0, 0, 2, 0, 0, 0, 0xe8, 3};
  std::ranges::transform(begin, expected.begin(), [](unsigned byte) { return static_cast<std::byte>(byte); });
  EXPECT_EQ(header, sealed(expected));
  // Worked out by other means: tests/fuzz/make_corpus.py.
  EXPECT_EQ(static_cast<unsigned>(header[124]), 0x6aU);
  EXPECT_EQ(static_cast<unsigned>(header[127]), 0xcbU);

  const Header parcel = encode({{1}, {2}, some_parcel()});
  EXPECT_EQ(static_cast<unsigned>(parcel[24]), 42U);    // sequence
  EXPECT_EQ(static_cast<unsigned>(parcel[48]), 0x08U);  // hlc, low byte first
  EXPECT_EQ(static_cast<unsigned>(parcel[56]), 9U);     // term
  EXPECT_EQ(static_cast<unsigned>(parcel[64]), 0x88U);  // to
  EXPECT_EQ(static_cast<unsigned>(parcel[80]), 0xffU);  // the null payload
  EXPECT_EQ(static_cast<unsigned>(parcel[104]), 1U);    // contribution
  EXPECT_EQ(static_cast<unsigned>(parcel[106]), 3U);    // payloads
}

TEST(Frame, RefusesWhatIsNone) {
  const Header good = encode({{2}, {7}, Credit{1000}});
  EXPECT_NE(refusal(with_byte(good, 0, 'X')).find("no Thalweg node"), std::string::npos);
  EXPECT_NE(refusal(with_byte(good, 4, 2)).find("format 2"), std::string::npos);
  EXPECT_NE(refusal(with_byte(good, 6, 0)).find("kind 0"), std::string::npos);
  EXPECT_NE(refusal(with_byte(good, 6, 6)).find("kind 6"), std::string::npos);
  EXPECT_NE(refusal(with_byte(good, 8, 1)).find("does not use"), std::string::npos);
  EXPECT_NE(refusal(with_byte(good, 22, 1)).find("does not use"), std::string::npos);
  EXPECT_NE(refusal(with_byte(good, 123, 1)).find("does not use"), std::string::npos);
  Header damaged = good;
  damaged[30] ^= std::byte{1};
  EXPECT_NE(refusal(damaged).find("checksum"), std::string::npos);
  EXPECT_FALSE(decode(std::span(good).first(127), limits).ok());
  EXPECT_FALSE(decode({}, limits).ok());
}

TEST(Frame, RefusesLengthsBeforeAnybodyAllocates) {
  const Header parcel = encode({{1}, {2}, some_parcel()});
  EXPECT_NE(refusal(with_byte(parcel, 10, 0x11)).find("a body of"), std::string::npos);
  EXPECT_NE(refusal(with_byte(parcel, 106, 5)).find("5 payloads"), std::string::npos);
  EXPECT_NE(refusal(with_byte(parcel, 106, 1)).find("that there is not"), std::string::npos);
  EXPECT_NE(refusal(with_byte(parcel, 75, 1)).find("floats: at most 1000000"), std::string::npos);
  const Header chunk = encode({{1}, {2}, ChunkHead{1, 0, 3, 1, 0}});
  EXPECT_EQ(refusal(chunk), "none");
  EXPECT_NE(refusal(with_byte(chunk, 40, 4)).find("payload 4"), std::string::npos);
  EXPECT_NE(refusal(with_byte(chunk, 8, 0)).find("no bytes"), std::string::npos);
  const Header bye = encode({{1}, {2}, Bye{Farewell::corrupt}});
  EXPECT_NE(refusal(with_byte(bye, 24, 0)).find("reason 0"), std::string::npos);
  EXPECT_NE(refusal(with_byte(bye, 24, 8)).find("reason 8"), std::string::npos);
}

TEST(Frame, OfAHundredThousandDamagedOnesDecodesOnlyWhatItWouldWrite) {
  const auto frames = one_of_each();
  Random random(20261201);
  std::size_t decoded = 0;
  for (int i = 0; i < 100'000; ++i) {
    Header header = encode(frames[random.below(frames.size())]);
    for (std::uint64_t changes = 1 + random.below(4); changes > 0; --changes) {
      header[random.below(header.size())] = static_cast<std::byte>(random.bits());
    }
    // Half of them with a checksum that holds, so that the fields behind it are looked at.
    if (i % 2 == 0) header = sealed(header);
    const auto frame = decode(header, limits);
    if (!frame.ok()) continue;
    ++decoded;
    ASSERT_EQ(encode(*frame), header);
    ASSERT_LE(frame->body_bytes(), body_bytes_max);
  }
  EXPECT_GT(decoded, 1000U);
}

}  // namespace
}  // namespace thalweg::wire
