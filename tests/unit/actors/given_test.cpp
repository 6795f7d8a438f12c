#include "actors/rules/allotment.hpp"
#include "runtime/time/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

/// The allotment where rounds are not planned: batch after batch to whoever asks.
namespace thalweg::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Allotment given(std::vector<std::uint64_t> batches, std::uint64_t samples, std::uint64_t max_samples,
                std::uint64_t epochs = 1) {
  auto sampling = LockstepSampling::make({samples, std::move(batches), false, epochs, 0});
  EXPECT_TRUE(sampling);
  return Allotment({*sampling, max_samples, 0, {}, {}, true});
}

Refusal refusal(std::uint32_t worker, IndexRange range, bool again = false) {
  return {Refusal::Why::not_finite, worker_id(worker), {range}, again};
}

TEST(GivenBatches, AreCutInTheOrderOfAsking) {
  auto allotment = given({4, 2}, 100, 12);
  const auto first = allotment.give(0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->serial, 1U);
  EXPECT_EQ(first->range, (IndexRange{0, 0, 4}));
  EXPECT_FALSE(first->again);
  const auto second = allotment.give(0);
  EXPECT_EQ(second->serial, 2U);
  EXPECT_EQ(second->range, (IndexRange{0, 4, 4}));
  const auto other = allotment.give(1);
  EXPECT_EQ(other->serial, 1U) << "each worker's are counted by themselves";
  EXPECT_EQ(other->range, (IndexRange{0, 8, 2}));
  EXPECT_EQ(allotment.give(0)->range, (IndexRange{0, 10, 2})) << "no more than is left";
  EXPECT_FALSE(allotment.give(1));
  EXPECT_FALSE(allotment.available());
  EXPECT_FALSE(allotment.done()) << "all of it is out";
  EXPECT_FALSE(allotment.give(7)) << "a stranger";
}

TEST(GivenBatches, EndAnEpochWithWhatItHasLeftAndGoOnWithTheNext) {
  auto allotment = given({4}, 6, 12, 2);
  EXPECT_EQ(allotment.give(0)->range, (IndexRange{0, 0, 4}));
  EXPECT_EQ(allotment.give(0)->range, (IndexRange{0, 4, 2}));
  EXPECT_EQ(allotment.give(0)->range, (IndexRange{1, 0, 4}));
  EXPECT_EQ(allotment.give(0)->range, (IndexRange{1, 4, 2}));
  EXPECT_FALSE(allotment.available());
}

TEST(GivenBatches, AreSettledByWhatACommitWasMadeOf) {
  auto allotment = given({4, 4}, 100, 12);
  allotment.give(0);
  allotment.give(1);
  allotment.give(0);
  const auto settled = allotment.settle({{0, 0, 8}}, {});
  EXPECT_EQ(settled.committed, 8U);
  EXPECT_EQ(settled.returned, 0U) << "the third one is still out";
  EXPECT_FALSE(allotment.done());
  EXPECT_EQ(allotment.settle({{0, 8, 4}}, {}).committed, 4U);
  EXPECT_TRUE(allotment.done());
}

TEST(GivenBatches, TakesBackWhatALostWorkerWasGivenAfterItsLastContribution) {
  auto allotment = given({4, 4}, 100, 16);
  for (int i = 0; i < 3; ++i) allotment.give(1);
  allotment.give(0);
  EXPECT_FALSE(allotment.available());
  allotment.remove(1);
  EXPECT_EQ(allotment.fence(1, 1), 8U) << "the first one had arrived";
  EXPECT_EQ(allotment.fence(1, 1), 0U) << "only once";
  ASSERT_TRUE(allotment.available());
  EXPECT_FALSE(allotment.give(1)) << "it is gone";
  EXPECT_EQ(allotment.give(0)->range, (IndexRange{0, 4, 4}));
  const auto last = allotment.give(0);
  EXPECT_EQ(last->range, (IndexRange{0, 8, 4}));
  EXPECT_FALSE(last->again);
  EXPECT_EQ(allotment.settle({{0, 0, 16}}, {}).committed, 16U);
  EXPECT_TRUE(allotment.done());
}

TEST(GivenBatches, AreTriedOnceByAnotherWorkerWhenTheyWereRefused) {
  auto allotment = given({4, 2}, 100, 4);
  allotment.give(0);
  const auto refused = allotment.settle({}, {refusal(0, {0, 0, 4})});
  EXPECT_EQ(refused.returned, 4U);
  ASSERT_TRUE(allotment.available());
  EXPECT_FALSE(allotment.give(0)) << "not by the same one";
  const auto first = allotment.give(1);
  EXPECT_EQ(first->range, (IndexRange{0, 0, 2}));
  EXPECT_TRUE(first->again);
  const auto second = allotment.give(1);
  EXPECT_EQ(second->range, (IndexRange{0, 2, 2}));
  EXPECT_THAT(allotment.settle({{0, 0, 2}}, {}).wronged, IsEmpty());
  EXPECT_THAT(allotment.settle({{0, 2, 2}}, {}).wronged, ElementsAre(0));
  EXPECT_TRUE(allotment.done());
}

TEST(GivenBatches, AreQuarantinedWhenTwoWorkersCouldNotComputeThem) {
  auto allotment = given({4, 4}, 100, 4);
  allotment.give(0);
  allotment.settle({}, {refusal(0, {0, 0, 4})});
  allotment.give(1);
  const auto settled = allotment.settle({}, {refusal(1, {0, 0, 4}, true)});
  EXPECT_EQ(settled.quarantined, 4U);
  EXPECT_THAT(settled.wronged, IsEmpty());
}

/// Batches come in late, are refused, or get lost with their worker: each position is settled once.
TEST(GivenBatches, SettleEverySampleOnceWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    std::vector<std::uint64_t> batches(1 + random.below(5));
    std::uint64_t global = 0;
    for (auto& batch : batches) global += batch = 1 + random.below(8);
    const auto samples = global + random.below(60);
    const auto epochs = 1 + random.below(3);
    const auto budget = samples * epochs - random.below(global);
    auto allotment = given(batches, samples, budget, epochs);
    std::vector<GivenBatch> out;
    std::vector<std::uint64_t> taken(batches.size());  // serial of the newest that came in
    std::vector<bool> lost(batches.size());
    std::vector<IndexRange> committed;
    std::vector<IndexRange> quarantined;
    for (int step = 0; !allotment.done(); ++step) {
      ASSERT_LT(step, 20'000) << "seed " << seed;
      const auto worker = static_cast<std::uint32_t>(random.below(batches.size()));
      if (random.below(2) == 0) {
        if (lost[worker]) continue;
        if (const auto batch = allotment.give(worker)) {
          EXPECT_LE(batch->range.count, batches[worker]);
          out.push_back(*batch);
        }
        continue;
      }
      if (random.below(30) == 0 && allotment.workers() > 1 && !lost[worker]) {
        lost[worker] = true;
        allotment.remove(worker);
        allotment.fence(worker, taken[worker]);
        std::erase_if(out, [&](const auto& each) { return each.worker == worker; });
        continue;
      }
      // The oldest of a worker's batches comes in.
      const auto found =
          std::find_if(out.begin(), out.end(), [&](const auto& each) { return each.worker == worker; });
      if (found == out.end()) continue;
      const auto batch = *found;
      out.erase(found);
      taken[worker] = batch.serial;
      if (random.below(10) == 0) {
        allotment.settle({}, {refusal(worker, batch.range, batch.again)});
        if (batch.again) add_range(quarantined, batch.range);
      } else {
        ASSERT_EQ(add_range(committed, batch.range), 0U) << "seed " << seed;
        EXPECT_EQ(allotment.settle({batch.range}, {}).committed, batch.range.count);
      }
    }
    auto all = committed;
    for (const auto& range : quarantined) EXPECT_EQ(add_range(all, range), 0U) << "seed " << seed;
    // What is quarantined is made up for while there is data.
    EXPECT_EQ(total(committed), std::min(budget, samples * epochs - total(quarantined))) << "seed " << seed;
  }
}

}  // namespace
}  // namespace thalweg::rules
