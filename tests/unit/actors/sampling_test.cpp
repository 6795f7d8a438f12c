#include "actors/rules/sampling.hpp"

#include "runtime/time/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace thalweg::rules {
namespace {

using ::testing::ElementsAre;

TEST(LargestRemainder, SharesEverythingAndGivesTheRestToTheLargestRemainders) {
  EXPECT_THAT(largest_remainder(10, {1, 1, 1}), ElementsAre(4, 3, 3));
  EXPECT_THAT(largest_remainder(32, {16, 48}), ElementsAre(8, 24));
  EXPECT_THAT(largest_remainder(3, {16, 16, 16, 16}), ElementsAre(1, 1, 1, 0));
  EXPECT_THAT(largest_remainder(0, {2, 5}), ElementsAre(0, 0));
}

TEST(LargestRemainder, IsNeverMoreThanOneFromTheExactShare) {
  Random random(7);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<std::uint64_t> weights(1 + random.below(9));
    for (auto& weight : weights) weight = 1 + random.below(100);
    const auto count = random.below(1000);
    const auto total = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
    const auto shares = largest_remainder(count, weights);
    EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), std::uint64_t{0}), count);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const auto floor = count * weights[i] / total;
      EXPECT_GE(shares[i], floor);
      EXPECT_LE(shares[i], floor + 1);
    }
  }
}

LockstepSampling make(SamplingOptions options) {
  auto sampling = LockstepSampling::make(std::move(options));
  EXPECT_TRUE(sampling);
  return *sampling;
}

TEST(LockstepSampling, CutsRoundsInMemberOrder) {
  const auto sampling = make({100, {16, 48}, false, 2, 0});
  const auto share = sampling.share({0});
  EXPECT_THAT(share.ranges, ElementsAre(IndexRange{0, 0, 16}, IndexRange{0, 16, 48}));
}

TEST(LockstepSampling, SharesTheShortLastRoundAndStartsTheNextEpochAfresh) {
  const auto sampling = make({100, {16, 48}, false, 2, 0});
  EXPECT_EQ(sampling.rounds_per_epoch(), 2U);
  EXPECT_EQ(sampling.rounds(), 4U);
  EXPECT_THAT(sampling.share({1}).ranges, ElementsAre(IndexRange{0, 64, 9}, IndexRange{0, 73, 27}));
  EXPECT_THAT(sampling.share({2}).ranges, ElementsAre(IndexRange{1, 0, 16}, IndexRange{1, 16, 48}));
  EXPECT_EQ(sampling.samples_before(2), 100U);
  EXPECT_EQ(sampling.samples_before(3), 164U);
  EXPECT_EQ(sampling.samples_before(4), 200U);
}

TEST(LockstepSampling, GivesNothingToSomeWhenTheLastRoundIsShorterThanTheWorkers) {
  const auto sampling = make({17, {4, 4, 4, 4}, false, 1, 0});
  EXPECT_THAT(sampling.share({1}).ranges, ElementsAre(IndexRange{0, 16, 1}, IndexRange{0, 17, 0},
                                                      IndexRange{0, 17, 0}, IndexRange{0, 17, 0}));
}

TEST(LockstepSampling, DropsTheShortRoundWhenAsked) {
  const auto sampling = make({100, {16, 48}, true, 2, 0});
  EXPECT_EQ(sampling.rounds(), 2U);
  EXPECT_EQ(sampling.samples_before(2), 128U);
  EXPECT_EQ(sampling.share({1}).ranges.front().epoch, 1U);
}

TEST(LockstepSampling, SpendsEverySampleOncePerEpoch) {
  const auto sampling = make({1003, {7, 1, 30}, false, 3, 0});
  std::vector<IndexRange> spent;
  for (Round round; round.value < sampling.rounds(); round = round.next()) {
    for (const auto& range : sampling.share(round).ranges) {
      if (range.count == 0) continue;
      EXPECT_EQ(add_range(spent, range), 0U);
    }
  }
  EXPECT_EQ(total(spent), 3U * 1003U);
  EXPECT_EQ(spent.size(), 3U);
}

TEST(LockstepSampling, RefusesABatchLargerThanTheDataSet) {
  const auto refused = LockstepSampling::make({100, {64, 64}, false, 1, 0});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_EQ(
      refused.error().text,
      "train.batch: the batches of all workers add up to 128 samples, more than the 100 of the training set: "
      "choose a smaller batch or fewer workers");
}

}  // namespace
}  // namespace thalweg::rules
