#include "actors/rules/allotment.hpp"

#include "runtime/time/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace thalweg::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

LockstepSampling sampling_of(SamplingOptions options) {
  auto sampling = LockstepSampling::make(std::move(options));
  EXPECT_TRUE(sampling);
  return *sampling;
}

Allotment allotment_of(SamplingOptions options, std::uint64_t max_samples = 0) {
  return Allotment({sampling_of(std::move(options)), max_samples, 0, {}, {}});
}

/// All that a round gave out, merged.
std::vector<IndexRange> everything(const RoundShare& share) {
  std::vector<IndexRange> ranges;
  for (const auto& range : share.ranges) add_range(ranges, range);
  return ranges;
}

Refusal refusal(std::uint32_t worker, IndexRange range, bool again = false) {
  return {Refusal::Why::not_finite, worker_id(worker), {range}, again};
}

TEST(Allotment, NewcomersNeedNotComeInTheOrderOfTheirNumbers) {
  SamplingOptions options;
  options.batches = {4, 4};
  options.samples_per_epoch = 100;
  options.epochs = 1;
  auto allotment = allotment_of(options);
  allotment.add(3, 5);
  allotment.add(2, 6);
  const auto share = allotment.next({0});
  ASSERT_EQ(share.ranges.size(), 4U);
  EXPECT_EQ(share.ranges[0].count, 4U);
  EXPECT_EQ(share.ranges[2].count, 6U);
  EXPECT_EQ(share.ranges[3].count, 5U);
}

TEST(Allotment, UndisturbedFollowsThePlanRoundByRound) {
  Random random(11);
  for (int trial = 0; trial < 300; ++trial) {
    SamplingOptions options;
    std::uint64_t global = 0;
    options.batches.resize(1 + random.below(6));
    for (auto& batch : options.batches) global += batch = 1 + random.below(20);
    options.samples_per_epoch = global + random.below(100);
    options.drop_last = random.below(2) == 0;
    options.epochs = 1 + random.below(3);
    if (random.below(3) == 0) options.rounds = 1 + random.below(30);
    const auto plan = sampling_of(options);
    auto allotment = allotment_of(options);
    std::uint64_t round = 0;
    for (; allotment.available(); ++round) {
      ASSERT_LT(round, plan.rounds());
      const auto share = allotment.next({round});
      ASSERT_EQ(share.ranges, plan.share({round}).ranges);
      EXPECT_FALSE(allotment.done());
      // Settled one round late, as it is when a batch is cut ahead.
      if (round > 0) allotment.settle({round - 1}, everything(plan.share({round - 1})), {});
    }
    allotment.settle({round - 1}, everything(plan.share({round - 1})), {});
    EXPECT_EQ(round, plan.rounds());
    EXPECT_TRUE(allotment.done());
  }
}

TEST(Allotment, GivesOutAgainWhatALostWorkerHad) {
  auto allotment = allotment_of({12, {2, 2, 2}, false, 1, 0});
  allotment.next({0});
  allotment.next({1});
  allotment.remove(1);
  const auto first = allotment.settle({0}, {{0, 0, 2}, {0, 4, 2}}, {});
  EXPECT_EQ(first.committed, 4U);
  EXPECT_EQ(first.returned, 2U);
  ASSERT_TRUE(allotment.available());
  EXPECT_THAT(allotment.next({2}).ranges, ElementsAre(IndexRange{0, 2, 2}, IndexRange{}, IndexRange{}));
  allotment.settle({1}, {{0, 6, 2}, {0, 10, 2}}, {});
  EXPECT_FALSE(allotment.done()) << "a round is out, and two samples came back";
  allotment.settle({2}, {{0, 2, 2}}, {});
  EXPECT_EQ(everything(allotment.next({3})), (std::vector<IndexRange>{{0, 8, 2}}));
  allotment.settle({3}, {{0, 8, 2}}, {});
  EXPECT_TRUE(allotment.done());
}

TEST(Allotment, HasWhatIsRefusedTriedOnceByAnotherWorker) {
  auto allotment = allotment_of({8, {2, 2}, false, 1, 0});
  allotment.next({0});
  const auto refused = allotment.settle({0}, {{0, 2, 2}}, {refusal(0, {0, 0, 2})});
  EXPECT_EQ(refused.returned, 2U);
  EXPECT_THAT(refused.wronged, IsEmpty());
  const auto again = allotment.next({1});
  EXPECT_THAT(again.ranges, ElementsAre(IndexRange{0, 4, 2}, IndexRange{0, 0, 2}));
  EXPECT_THAT(again.again, ElementsAre(false, true));
  const auto fine = allotment.settle({1}, {{0, 0, 2}, {0, 4, 2}}, {});
  EXPECT_THAT(fine.wronged, ElementsAre(0)) << "another worker had no trouble with them";
}

TEST(Allotment, StrikesOnceWhenAllThatWasRefusedIsFineElsewhere) {
  auto allotment = allotment_of({10, {6, 2, 2}, false, 1, 0});
  allotment.next({0});
  allotment.settle({0}, {{0, 6, 4}}, {refusal(0, {0, 0, 6})});
  EXPECT_THAT(allotment.next({1}).ranges,
              ElementsAre(IndexRange{}, IndexRange{0, 0, 2}, IndexRange{0, 2, 2}));
  EXPECT_THAT(allotment.settle({1}, {{0, 0, 4}}, {}).wronged, IsEmpty()) << "two samples are not tried yet";
  EXPECT_THAT(allotment.next({2}).ranges, ElementsAre(IndexRange{}, IndexRange{0, 4, 2}, IndexRange{}));
  EXPECT_THAT(allotment.settle({2}, {{0, 4, 2}}, {}).wronged, ElementsAre(0));
}

TEST(Allotment, StrikesOnceForSeveralBatchesThatWereRefusedTogether) {
  auto allotment = allotment_of({24, {2, 2}, false, 1, 0});
  const auto first = allotment.give(0);
  const auto second = allotment.give(0);
  const Refusal together{Refusal::Why::not_finite, worker_id(0), {first->range, second->range}, false};
  EXPECT_EQ(allotment.settle({}, {together}).returned, 4U);
  const auto one = allotment.give(1);
  const auto other = allotment.give(1);
  EXPECT_TRUE(one->again && other->again);
  EXPECT_THAT(allotment.settle({one->range}, {}).wronged, IsEmpty());
  EXPECT_THAT(allotment.settle({other->range}, {}).wronged, ElementsAre(0U));
}

TEST(Allotment, GivesNoFurtherEpochForWhatIsQuarantined) {
  Allotment::Options options{sampling_of({4, {2}, false, 1, 0}), 4, 0, {}, {}};
  options.by_samples = true;
  Allotment allotment(std::move(options));
  const auto bad = allotment.give(0)->range;
  allotment.settle({}, {refusal(0, bad)});
  EXPECT_EQ(allotment.give(0)->range, bad);
  EXPECT_EQ(allotment.settle({}, {refusal(0, bad, true)}).quarantined, 2U);
  allotment.settle({allotment.give(0)->range}, {});
  EXPECT_TRUE(allotment.done());
}

TEST(Allotment, StrikesNobodyForABatchWithABadSample) {
  auto allotment = allotment_of({10, {6, 2, 2}, false, 1, 0});
  allotment.next({0});
  allotment.settle({0}, {{0, 6, 4}}, {refusal(0, {0, 0, 6})});
  allotment.next({1});
  EXPECT_THAT(allotment.settle({1}, {{0, 0, 2}}, {refusal(2, {0, 2, 2}, true)}).wronged, IsEmpty());
  allotment.next({2});
  const auto settled = allotment.settle({2}, {{0, 4, 2}}, {});
  EXPECT_EQ(settled.committed, 2U);
  EXPECT_THAT(settled.wronged, IsEmpty()) << "what was refused of w0 was refused of w2, in part";
}

TEST(Allotment, QuarantinesWhatTwoWorkersCouldNotCompute) {
  auto allotment = allotment_of({4, {2, 2}, false, 1, 0});
  allotment.next({0});
  allotment.settle({0}, {{0, 0, 2}}, {refusal(1, {0, 2, 2})});
  EXPECT_THAT(allotment.next({1}).ranges, ElementsAre(IndexRange{0, 2, 2}, IndexRange{}));
  const auto settled = allotment.settle({1}, {}, {refusal(0, {0, 2, 2}, true)});
  EXPECT_EQ(settled.quarantined, 2U);
  EXPECT_THAT(settled.wronged, IsEmpty());
  EXPECT_TRUE(allotment.done());
}

TEST(Allotment, LetsTheOnlyWorkerTryAgain) {
  auto allotment = allotment_of({2, {2}, false, 1, 0});
  allotment.next({0});
  allotment.settle({0}, {}, {refusal(0, {0, 0, 2})});
  const auto share = allotment.next({1});
  EXPECT_THAT(share.ranges, ElementsAre(IndexRange{0, 0, 2}));
  EXPECT_THAT(share.again, ElementsAre(true));
  EXPECT_THAT(allotment.settle({1}, {{0, 0, 2}}, {}).wronged, IsEmpty());
}

TEST(Allotment, CountsCommitsWhenTheRunIsSoManySteps) {
  auto allotment = allotment_of({8, {2, 2}, false, 1, 3});
  for (std::uint64_t round = 0; round < 3; ++round) allotment.next({round});
  EXPECT_FALSE(allotment.available());
  allotment.settle({0}, {{0, 0, 4}}, {});
  allotment.settle({1}, {}, {refusal(0, {0, 4, 2}), refusal(1, {0, 6, 2})});
  ASSERT_TRUE(allotment.available()) << "a round without a commit is no step";
  EXPECT_THAT(allotment.next({3}).ranges, ElementsAre(IndexRange{0, 6, 2}, IndexRange{0, 4, 2}));
}

TEST(Allotment, EndsAtSoManySamplesExactly) {
  auto allotment = allotment_of({100, {4, 4}, false, 9, 0}, 19);
  std::uint64_t samples = 0;
  std::uint64_t round = 0;
  for (; allotment.available(); ++round) samples += total(everything(allotment.next({round})));
  EXPECT_EQ(samples, 19U);
  EXPECT_EQ(round, 3U);
}

TEST(Allotment, GoesOnBehindWhatIsSettledAndFillsTheHoles) {
  Allotment allotment(
      {sampling_of({10, {4}, false, 3, 0}), 0, 4, {{0, 0, 10}, {1, 0, 2}, {1, 4, 2}}, {{1, 6, 1}}});
  EXPECT_THAT(allotment.next({4}).ranges, ElementsAre(IndexRange{1, 2, 2}));
  EXPECT_THAT(allotment.next({5}).ranges, ElementsAre(IndexRange{1, 7, 3}));
  EXPECT_THAT(allotment.next({6}).ranges, ElementsAre(IndexRange{2, 0, 4}));
}

/// Rounds with random losses, refusals and removals: whatever happens, each position ends up settled once.
TEST(Allotment, SettlesEverySampleOnceWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    SamplingOptions options;
    options.batches.resize(1 + random.below(5));
    std::uint64_t global = 0;
    for (auto& batch : options.batches) global += batch = 1 + random.below(8);
    options.samples_per_epoch = global + random.below(60);
    options.epochs = 1 + random.below(3);
    auto allotment = allotment_of(options);
    std::vector<IndexRange> committed;
    std::vector<IndexRange> quarantined;
    std::vector<RoundShare> out;
    std::vector<bool> lost(options.batches.size());
    std::uint64_t round = 0;
    for (int steps = 0; !allotment.done(); ++steps) {
      ASSERT_LT(steps, 20'000) << "seed " << seed;
      if (allotment.available() && out.size() < 3 && random.below(3) != 0) {
        out.push_back(allotment.next({round++}));
        continue;
      }
      if (out.empty()) continue;
      std::vector<IndexRange> spent;
      std::vector<Refusal> refused;
      std::uint64_t counted = 0;
      for (std::uint32_t worker = 0; worker < options.batches.size(); ++worker) {
        const auto& range = out.front().ranges[worker];
        if (range.count == 0) continue;
        const bool again = !out.front().again.empty() && out.front().again[worker];
        const auto fate = random.below(10);
        if (fate == 0 || lost[worker]) continue;  // it did not contribute in time
        if (fate == 1) {
          refused.push_back(refusal(worker, range, again));
          if (again) add_range(quarantined, range);
        } else {
          counted += range.count;
          ASSERT_EQ(add_range(committed, range), 0U) << "seed " << seed;
          add_range(spent, range);
        }
      }
      EXPECT_EQ(allotment.settle(out.front().round, spent, refused).committed, counted);
      out.erase(out.begin());
      const auto victim = static_cast<std::uint32_t>(random.below(options.batches.size()));
      if (random.below(20) == 0 && !lost[victim] && allotment.workers() > 1) {
        lost[victim] = true;
        allotment.remove(victim);
      }
    }
    auto all = committed;
    for (const auto& range : quarantined) EXPECT_EQ(add_range(all, range), 0U) << "seed " << seed;
    EXPECT_EQ(total(all), options.samples_per_epoch * options.epochs) << "seed " << seed;
  }
}

}  // namespace
}  // namespace thalweg::rules
