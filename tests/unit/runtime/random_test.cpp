#include "runtime/time/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

namespace thalweg {
namespace {

std::vector<std::uint64_t> first_bits(Random random, int count) {
  std::vector<std::uint64_t> bits;
  for (int i = 0; i < count; ++i) bits.push_back(random.bits());
  return bits;
}

// Weights, shuffles and so every golden training curve rest on these numbers: they never change. A program in
// another language, written from the papers, gave the same ones.
TEST(Random, StreamsAreGolden) {
  EXPECT_EQ(first_bits(Random(0), 3),
            (std::vector<std::uint64_t>{0x2130748aaac80268, 0x0cc78fb979ce5090, 0xab9aa3dafba6b4ac}));
  EXPECT_EQ(first_bits(Random(1, RandomStream::weights, 7), 3),
            (std::vector<std::uint64_t>{0x834aafffa532cbd6, 0xe6356f48b560aadc, 0xd8f705f874e17468}));
  EXPECT_EQ(permutation(1, 0, 8), (std::vector<std::uint32_t>{0, 2, 6, 4, 5, 1, 7, 3}));
  Random random(42, RandomStream::synthetic);
  EXPECT_EQ(random.uniform(), 0x1.47a3296dece8p-1);
  EXPECT_EQ(random.uniform(-1.0F, 1.0F), 0x1.fc37e8p-1F);
  EXPECT_EQ(random.normal(), -0x1.624a7e340785cp-2);
  EXPECT_EQ(random.below(1000), 35U);
}

TEST(Random, EveryPartOfTheKeyMatters) {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    for (std::uint64_t stream = 0; stream < 8; ++stream) {
      for (std::uint64_t index = 0; index < 8; ++index) firsts.insert(Random(seed, stream, index).bits());
    }
  }
  EXPECT_EQ(firsts.size(), 8U * 8U * 8U);
}

// Chi-square with 5 standard deviations of room, for bounds where taking the remainder would show.
TEST(Random, BelowHasNoBias) {
  for (const std::uint64_t bound : {1U, 2U, 3U, 6U, 7U, 10U, 100U}) {
    Random random(11, bound);
    constexpr int draws = 100'000;
    std::vector<int> hits(bound);
    for (int i = 0; i < draws; ++i) {
      const std::uint64_t number = random.below(bound);
      ASSERT_LT(number, bound);
      ++hits[number];
    }
    const double expected = draws / static_cast<double>(bound);
    double chi_square = 0;
    for (const int count : hits) chi_square += (count - expected) * (count - expected) / expected;
    const double freedom = static_cast<double>(bound) - 1;
    EXPECT_LE(chi_square, freedom + 5 * std::sqrt(2 * freedom)) << "bound " << bound;
  }
}

// At 3 · 2^62 a quarter of all draws is rejected; each third must still get its third.
TEST(Random, BelowRejectsAtLargeBounds) {
  constexpr std::uint64_t third = std::uint64_t{1} << 62;
  Random random(3);
  std::array<int, 3> hits{};
  for (int i = 0; i < 30'000; ++i) ++hits[random.below(3 * third) / third];
  for (const int count : hits) EXPECT_NEAR(count, 10'000, 500);
}

TEST(Random, UniformFillsItsInterval) {
  Random random(9);
  double sum = 0;
  double low = 1;
  double high = 0;
  constexpr int draws = 100'000;
  for (int i = 0; i < draws; ++i) {
    const double number = random.uniform();
    ASSERT_GE(number, 0);
    ASSERT_LT(number, 1);
    sum += number;
    low = std::min(low, number);
    high = std::max(high, number);
  }
  EXPECT_NEAR(sum / draws, 0.5, 0.005);
  EXPECT_LT(low, 1e-3);
  EXPECT_GT(high, 1 - 1e-3);
}

TEST(Random, UniformFloatStaysBetween) {
  Random random(9);
  for (int i = 0; i < 10'000; ++i) {
    const float number = random.uniform(-0.25F, 0.5F);
    ASSERT_GE(number, -0.25F);
    ASSERT_LE(number, 0.5F);
  }
}

TEST(Random, NormalHasMeanZeroAndDeviationOne) {
  Random random(13);
  double sum = 0;
  double squares = 0;
  constexpr int draws = 50'000;
  for (int i = 0; i < draws; ++i) {
    const double number = random.normal();
    ASSERT_LE(std::abs(number), 6);
    sum += number;
    squares += number * number;
  }
  EXPECT_NEAR(sum / draws, 0, 0.02);
  EXPECT_NEAR(squares / draws, 1, 0.03);
}

TEST(Permutation, HoldsEveryIndexOnce) {
  for (const std::uint64_t count : {0U, 1U, 2U, 3U, 100U, 4097U}) {
    auto order = permutation(1, 0, count);
    ASSERT_EQ(order.size(), count);
    std::sort(order.begin(), order.end());
    for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(order[i], i);
  }
}

TEST(Permutation, DiffersByEpochAndBySeed) {
  const auto order = permutation(1, 0, 1000);
  EXPECT_EQ(permutation(1, 0, 1000), order);
  EXPECT_NE(permutation(1, 1, 1000), order);
  EXPECT_NE(permutation(2, 0, 1000), order);
}

// All six orders of three, each in a sixth of the epochs.
TEST(Permutation, EveryOrderIsAsLikely) {
  std::array<int, 27> hits{};
  constexpr std::uint64_t epochs = 12'000;
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    const auto order = permutation(4, epoch, 3);
    ++hits[order[0] * 9 + order[1] * 3 + order[2]];
  }
  for (const int count : hits) {
    if (count != 0) {
      EXPECT_NEAR(count, 2000, 200);
    }
  }
  EXPECT_EQ(std::count(hits.begin(), hits.end(), 0), 27 - 6);
}

}  // namespace
}  // namespace thalweg
