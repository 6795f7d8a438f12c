#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// The checksum of everything that crosses a wire unprotected.
namespace thalweg::wire {

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4): "123456789" gives 0xE3069283. `before` is the checksum of the
/// bytes in front of these, so that a long text may come in pieces. Any thread.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace thalweg::wire
