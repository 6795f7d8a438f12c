#include "models/byte_source.hpp"
#include "tests/fuzz/memory_file.hpp"
#include "tests/fuzz/message.hpp"
#include "tests/support/gzip.hpp"

#include <algorithm>
#include <optional>

/// Files as streams of bytes. An input is a byte that says what becomes of the rest: 0: the rest is the file;
/// 1: the rest is gzipped, and must come out as it was; 2: the rest is gzipped as two members, the same;
/// 3: the rest is gzipped and then damaged, as its own bytes say; 4: the rest follows the magic bytes of
/// gzip. Whatever the file is, reading it in small pieces must give what reading it at once gives.
namespace thalweg::fuzz {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t unpacked_max = 1U << 22;

/// What came out of the file, and the error that ended it, if one did.
struct Reading {
  Bytes bytes;
  std::string error;
  bool complete = false;  ///< the stream's end was seen
};

Reading read_all(const std::filesystem::path& file, std::size_t piece) {
  Reading reading;
  auto source = models::ByteSource::open(file);
  THALWEG_CHECK(source.ok(), "a file in memory can be opened");
  const std::uint64_t most = source->bytes_at_most();
  Bytes part(piece);
  while (reading.bytes.size() < unpacked_max) {
    const auto got = source->read(part);
    if (!got.ok()) {
      THALWEG_CHECK(got.error().code == ErrorCode::corrupt, "bytes can only be corrupt");
      check_message(got.error(), file.string());
      reading.error = got.error().text;
      break;
    }
    reading.bytes.insert(reading.bytes.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(*got));
    if (*got < part.size()) {
      reading.complete = true;
      break;
    }
  }
  THALWEG_CHECK(reading.bytes.size() <= most, "a file gives no more than it was said to");
  return reading;
}

Bytes joined(const Bytes& one, const Bytes& other) {
  Bytes both = one;
  both.insert(both.end(), other.begin(), other.end());
  return both;
}

/// Each pair of bytes of `damage` changes one byte of `packed`; the last odd one says how much is cut off.
void damage_with(std::span<const std::uint8_t> damage, Bytes& packed) {
  for (std::size_t i = 0; i + 1 < damage.size() && i < 8; i += 2) {
    packed[damage[i] % packed.size()] ^= damage[i + 1];
  }
  if (damage.size() % 2 == 1) packed.resize(packed.size() - damage.back() % packed.size());
}

}  // namespace
}  // namespace thalweg::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace thalweg;
  using fuzz::Bytes;
  static fuzz::MemoryFile file("packed");
  if (size < 1) return 0;
  const std::span rest(data + 1, size - 1);
  const Bytes plain(rest.begin(), rest.end());
  std::optional<Bytes> expected;
  Bytes stored = plain;
  switch (data[0] % 5) {
    case 1:
      stored = gzip_member(rest);
      expected = plain;
      break;
    case 2:
      stored =
          fuzz::joined(gzip_member(rest.first(rest.size() / 2)), gzip_member(rest.subspan(rest.size() / 2)));
      expected = plain;
      break;
    case 3:
      stored = gzip_member(rest);
      fuzz::damage_with(rest, stored);
      break;
    case 4:
      stored = fuzz::joined({0x1f, 0x8b}, plain);
      break;
    default:
      break;
  }
  file.write(stored);
  const auto whole = fuzz::read_all(file.path(), std::size_t{1} << 16);
  const auto pieces = fuzz::read_all(file.path(), 1 + size % 97);
  const std::size_t common = std::min(whole.bytes.size(), pieces.bytes.size());
  THALWEG_CHECK(std::equal(whole.bytes.begin(), whole.bytes.begin() + static_cast<std::ptrdiff_t>(common),
                           pieces.bytes.begin()),
                "the size of the pieces does not change the bytes");
  THALWEG_CHECK(whole.error == pieces.error, "the size of the pieces does not change the error");
  if (whole.complete && pieces.complete) {
    THALWEG_CHECK(whole.bytes.size() == pieces.bytes.size(), "the size of the pieces does not move the end");
  }
  if (expected) {
    THALWEG_CHECK(whole.error.empty(), "what was packed can be unpacked");
    THALWEG_CHECK(whole.bytes == *expected, "what was packed comes out as it was");
  }
  return 0;
}
