#include "tests/fuzz/mutation.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace thalweg::fuzz {
namespace {

/// Where counts overflow, signs turn and loops run empty.
constexpr std::array<std::uint64_t, 12> odd_numbers = {0,
                                                       1,
                                                       0x7f,
                                                       0x80,
                                                       0xff,
                                                       0x7fff,
                                                       0xffff,
                                                       0x7fffffff,
                                                       0x80000000,
                                                       0xffffffff,
                                                       std::numeric_limits<std::int64_t>::max(),
                                                       std::numeric_limits<std::uint64_t>::max()};

/// A stretch of some bytes: its place, and at most `most` of them.
struct Stretch {
  std::ptrdiff_t begin;
  std::ptrdiff_t end;
};

Stretch pick_stretch(const Bytes& bytes, Random& random, std::size_t most) {
  const std::size_t begin = random.below(bytes.size() + 1);
  const std::size_t left = std::min(bytes.size() - begin, most);
  return {static_cast<std::ptrdiff_t>(begin), static_cast<std::ptrdiff_t>(begin + random.below(left + 1))};
}

void flip_a_bit(Bytes& bytes, Random& random) {
  if (bytes.empty()) return;
  std::uint8_t& byte = bytes[random.below(bytes.size())];
  byte = static_cast<std::uint8_t>(byte ^ (1U << random.below(8)));
}

void change_a_byte(Bytes& bytes, Random& random) {
  if (!bytes.empty()) bytes[random.below(bytes.size())] = static_cast<std::uint8_t>(random.bits());
}

void cut_the_end(Bytes& bytes, Random& random) { bytes.resize(random.below(bytes.size() + 1)); }

void cut_a_piece(Bytes& bytes, Random& random) {
  const Stretch piece = pick_stretch(bytes, random, 32);
  bytes.erase(bytes.begin() + piece.begin, bytes.begin() + piece.end);
}

void double_a_piece(Bytes& bytes, Random& random) {
  const Stretch piece = pick_stretch(bytes, random, 64);
  const Bytes copy(bytes.begin() + piece.begin, bytes.begin() + piece.end);
  const auto place = static_cast<std::ptrdiff_t>(random.below(bytes.size() + 1));
  bytes.insert(bytes.begin() + place, copy.begin(), copy.end());
}

void splice(Bytes& bytes, const Bytes& other, Random& random) {
  const Stretch piece = pick_stretch(other, random, 256);
  const auto place = static_cast<std::ptrdiff_t>(random.below(bytes.size() + 1));
  bytes.insert(bytes.begin() + place, other.begin() + piece.begin, other.begin() + piece.end);
}

/// Writes an odd number over 1, 2, 4 or 8 bytes, in either byte order.
void put_a_number(Bytes& bytes, Random& random) {
  const std::size_t width = std::size_t{1} << random.below(4);
  if (bytes.size() < width) return;
  const std::uint64_t number = odd_numbers[random.below(odd_numbers.size())];
  const bool big_endian = random.below(2) == 0;
  const std::size_t place = random.below(bytes.size() - width + 1);
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t shift = 8 * (big_endian ? width - 1 - i : i);
    bytes[place + i] = static_cast<std::uint8_t>(number >> shift);
  }
}

/// The same for numbers that are written out, as those in JSON and TOML are.
void write_a_number(Bytes& bytes, Random& random) {
  const auto is_digit = [](std::uint8_t byte) { return byte >= '0' && byte <= '9'; };
  const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(random.below(bytes.size() + 1));
  const auto begin = std::find_if(from, bytes.end(), is_digit);
  const auto end = std::find_if_not(begin, bytes.end(), is_digit);
  if (begin == end) return;
  const std::string number = std::to_string(odd_numbers[random.below(odd_numbers.size())]);
  const auto place = bytes.erase(begin, end);
  bytes.insert(place, number.begin(), number.end());
}

}  // namespace

Bytes mutate(std::span<const Bytes> corpus, Random& random, std::size_t size_max) {
  Bytes bytes = corpus[random.below(corpus.size())];
  for (std::uint64_t changes = 1 + random.below(4); changes > 0; --changes) {
    switch (random.below(8)) {
      case 0:
        flip_a_bit(bytes, random);
        break;
      case 1:
        change_a_byte(bytes, random);
        break;
      case 2:
        cut_the_end(bytes, random);
        break;
      case 3:
        cut_a_piece(bytes, random);
        break;
      case 4:
        double_a_piece(bytes, random);
        break;
      case 5:
        splice(bytes, corpus[random.below(corpus.size())], random);
        break;
      case 6:
        put_a_number(bytes, random);
        break;
      default:
        write_a_number(bytes, random);
        break;
    }
  }
  if (bytes.size() > size_max) bytes.resize(size_max);
  return bytes;
}

}  // namespace thalweg::fuzz
