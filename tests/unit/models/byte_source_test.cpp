#include "models/byte_source.hpp"

#include "tests/support/temp_folder.hpp"
#include "tests/unit/models/idx_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace thalweg::models {
namespace {

/// Bytes that come out of `file` in pieces of `piece` before it ends or fails, and the failure.
struct Reading {
  std::string bytes;
  std::string error;
};

Reading read_in_pieces(const std::filesystem::path& file, std::size_t piece) {
  Reading reading;
  auto source = ByteSource::open(file);
  EXPECT_TRUE(source.ok());
  std::vector<std::uint8_t> part(piece);
  while (true) {
    const auto got = source->read(part);
    if (!got.ok()) {
      reading.error = got.error().text;
      return reading;
    }
    reading.bytes.append(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(*got));
    if (*got < piece) return reading;
  }
}

TEST(ByteSource, PiecesOfAnySizeGiveTheSameBytes) {
  const TempFolder folder;
  const std::string zeros(100'000, '\0');
  const auto file = folder.write("zeros", gzipped(zeros));
  for (const std::size_t piece : {1U, 7U, 96U, 4096U}) {
    const Reading reading = read_in_pieces(file, piece);
    EXPECT_EQ(reading.bytes, zeros) << piece;
    EXPECT_EQ(reading.error, "") << piece;
  }
}

TEST(ByteSource, ATruncatedFileGivesAllThatCanBeUnpacked) {
  const TempFolder folder;
  std::string packed = gzipped(std::string(100'000, '\0'));
  // A byte of it stands for hundreds of zeros: zlib has taken in the last one long before it gives them out.
  packed.resize(packed.size() / 2);
  const auto file = folder.write("zeros", packed);
  const std::string whole = read_in_pieces(file, 200'000).error;
  EXPECT_THAT(whole, testing::HasSubstr("the file ends in the middle"));
  for (const std::size_t piece : {1U, 8U, 50U, 1000U}) {
    const Reading reading = read_in_pieces(file, piece);
    EXPECT_EQ(reading.error, whole) << piece;
    EXPECT_GT(reading.bytes.size(), 10'000U) << piece;
  }
}

TEST(ByteSource, TheSizeOfThePiecesDoesNotChangeTheError) {
  const TempFolder folder;
  // Two bytes, and then a copy from before the start, where the file ends.
  const std::string header("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
  const auto file = folder.write("damaged", header + "\x4b\x4c\x02\xca\x01");
  const Reading whole = read_in_pieces(file, 4096);
  EXPECT_THAT(whole.error, testing::HasSubstr("after 2 unpacked bytes: invalid distance too far back"));
  for (const std::size_t piece : {1U, 2U, 3U})
    EXPECT_EQ(read_in_pieces(file, piece).error, whole.error) << piece;
}

}  // namespace
}  // namespace thalweg::models
