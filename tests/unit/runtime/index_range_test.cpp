#include "runtime/values/index_range.hpp"

#include "runtime/time/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace thalweg {
namespace {

using Ranges = std::vector<IndexRange>;

TEST(IndexRange, KeepsApartWhatDoesNotTouch) {
  Ranges ranges;
  EXPECT_EQ(add_range(ranges, {0, 10, 5}), 0U);
  EXPECT_EQ(add_range(ranges, {0, 0, 5}), 0U);
  EXPECT_EQ(add_range(ranges, {0, 20, 5}), 0U);
  EXPECT_EQ(ranges, (Ranges{{0, 0, 5}, {0, 10, 5}, {0, 20, 5}}));
  EXPECT_EQ(total(ranges), 15U);
}

TEST(IndexRange, MergesNeighboursOnBothSides) {
  Ranges ranges{{0, 0, 5}, {0, 10, 5}};
  EXPECT_EQ(add_range(ranges, {0, 5, 5}), 0U);
  EXPECT_EQ(ranges, (Ranges{{0, 0, 15}}));
}

TEST(IndexRange, CountsWhatWasThereAlready) {
  Ranges ranges{{0, 0, 4}, {0, 8, 4}, {0, 20, 2}};
  EXPECT_EQ(add_range(ranges, {0, 2, 8}), 4U) << "two positions of the first range, two of the second";
  EXPECT_EQ(ranges, (Ranges{{0, 0, 12}, {0, 20, 2}}));
  EXPECT_EQ(add_range(ranges, {0, 3, 5}), 5U) << "all of it";
  EXPECT_EQ(ranges, (Ranges{{0, 0, 12}, {0, 20, 2}}));
}

TEST(IndexRange, EpochsDoNotMeet) {
  Ranges ranges{{1, 0, 8}};
  EXPECT_EQ(add_range(ranges, {0, 0, 8}), 0U);
  EXPECT_EQ(add_range(ranges, {2, 0, 8}), 0U);
  EXPECT_EQ(add_range(ranges, {1, 8, 1}), 0U);
  EXPECT_EQ(ranges, (Ranges{{0, 0, 8}, {1, 0, 9}, {2, 0, 8}}));
}

TEST(IndexRange, AnEmptyRangeChangesNothing) {
  Ranges ranges{{0, 0, 4}};
  EXPECT_EQ(add_range(ranges, {0, 2, 0}), 0U);
  EXPECT_EQ(add_range(ranges, {5, 0, 0}), 0U);
  EXPECT_EQ(ranges, (Ranges{{0, 0, 4}}));
}

// The oracle is one flag per position.
TEST(IndexRange, AgreesWithABitmap) {
  constexpr std::uint64_t positions = 64;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    std::array<std::array<bool, positions>, 3> seen{};
    Ranges ranges;
    for (int step = 0; step < 40; ++step) {
      const std::uint64_t epoch = random.below(seen.size());
      const std::uint64_t begin = random.below(positions);
      const IndexRange range{epoch, begin, random.below(std::min<std::uint64_t>(8, positions - begin) + 1)};
      std::uint64_t twice = 0;
      for (std::uint64_t i = range.begin; i < range.end(); ++i) {
        twice += seen[epoch][i] ? 1 : 0;
        seen[epoch][i] = true;
      }
      ASSERT_EQ(add_range(ranges, range), twice) << "seed " << seed << " step " << step;

      Ranges expected;
      for (std::uint64_t e = 0; e < seen.size(); ++e) {
        for (std::uint64_t i = 0; i < positions; ++i) {
          if (!seen[e][i]) continue;
          if (i > 0 && seen[e][i - 1]) {
            ++expected.back().count;
          } else {
            expected.push_back({e, i, 1});
          }
        }
      }
      ASSERT_EQ(ranges, expected) << "seed " << seed << " step " << step;
    }
  }
}

}  // namespace
}  // namespace thalweg
