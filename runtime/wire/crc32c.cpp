#include "runtime/wire/crc32c.hpp"

#include <algorithm>
#include <isa-l.h>

namespace thalweg::wire {

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
  // ISA-L takes lengths as int, leaves both inversions of the standard to its caller, and reads what it is
  // given as if it might write it.
  constexpr std::size_t piece_max = std::size_t{1} << 30;
  std::uint32_t state = ~before;
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), piece_max));
    auto* start = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(piece.data()));
    state = crc32_iscsi(start, static_cast<int>(piece.size()), state);
    bytes = bytes.subspan(piece.size());
  }
  return ~state;
}

}  // namespace thalweg::wire
