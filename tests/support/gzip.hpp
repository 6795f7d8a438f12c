#pragma once

#include "runtime/check.hpp"

#include <zlib.h>

#include <cstdint>
#include <span>
#include <vector>

namespace thalweg {

/// `bytes` as one gzip member.
inline std::vector<std::uint8_t> gzip_member(std::span<const std::uint8_t> bytes) {
  z_stream packer{};
  THALWEG_CHECK(deflateInit2(&packer, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK,
                "zlib starts");
  std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
  std::vector<std::uint8_t> packed(deflateBound(&packer, static_cast<uLong>(bytes.size())) + 64);
  packer.next_in = input.data();
  packer.avail_in = static_cast<uInt>(input.size());
  packer.next_out = packed.data();
  packer.avail_out = static_cast<uInt>(packed.size());
  THALWEG_CHECK(deflate(&packer, Z_FINISH) == Z_STREAM_END, "the bound holds what deflate makes");
  packed.resize(packer.total_out);
  deflateEnd(&packer);
  return packed;
}

}  // namespace thalweg
