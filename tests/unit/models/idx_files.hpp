#pragma once

#include "tests/support/gzip.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// IDX files made by hand: exactly the bytes that a test is about.
namespace thalweg::models {

inline std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

/// An IDX header for unsigned bytes with these dimensions.
inline std::string idx_header(const std::vector<std::uint32_t>& dimensions) {
  std::string bytes{0, 0, 8, static_cast<char>(dimensions.size())};
  for (const std::uint32_t dimension : dimensions) bytes += big_endian(dimension);
  return bytes;
}

/// `count` images of `rows` x `columns`; pixel p of image i is 10 i + p.
inline std::string idx_images(std::uint32_t count, std::uint32_t rows = 2, std::uint32_t columns = 3) {
  std::string bytes = idx_header({count, rows, columns});
  for (std::uint32_t i = 0; i < count; ++i) {
    for (std::uint32_t p = 0; p < rows * columns; ++p) bytes += static_cast<char>(10 * i + p);
  }
  return bytes;
}

inline std::string idx_labels(const std::vector<int>& labels) {
  std::string bytes = idx_header({static_cast<std::uint32_t>(labels.size())});
  for (const int label : labels) bytes += static_cast<char>(label);
  return bytes;
}

/// `bytes` as one gzip member.
inline std::string gzipped(std::string_view bytes) {
  const auto packed = gzip_member({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  return {packed.begin(), packed.end()};
}

}  // namespace thalweg::models
