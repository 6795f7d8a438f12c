#include "actors/rules/trigger.hpp"

#include "actors/rules/merge.hpp"

#include <gtest/gtest.h>

/// When an aggregator closes a round, and what the root then makes of it.
namespace thalweg::rules {
namespace {

using Trigger = TriggerRule::Kind;

TriggerView arrived(std::uint64_t count, std::uint64_t workers, bool drained = false) {
  return {{4}, workers, count, 0, workers, drained, {}};
}

bool closes(const TriggerRule& rule, const TriggerView& view) {
  return rule.decide(view).action == TriggerAction::close;
}

TEST(TriggerRule, AnyClosesAtOnce) {
  const TriggerRule rule{Trigger::any};
  EXPECT_FALSE(closes(rule, arrived(0, 8)));
  EXPECT_TRUE(closes(rule, arrived(1, 8)));
}

TEST(TriggerRule, CountWaitsForSoMany) {
  const TriggerRule rule{Trigger::count, 3};
  const auto wait = rule.decide(arrived(2, 8));
  EXPECT_EQ(wait.action, TriggerAction::wait);
  EXPECT_EQ(wait.reason.text(), "round 4 waits for contributions: 2 of 3 are in");
  EXPECT_TRUE(closes(rule, arrived(3, 8)));
  EXPECT_FALSE(rule.by_member());
}

TEST(TriggerRule, SoftSyncWaitsForTheWorkersOverN) {
  // c = max(1, floor(workers / n))
  const std::uint64_t expected[][3] = {{8, 1, 8}, {8, 2, 4}, {8, 3, 2}, {8, 4, 2}, {8, 8, 1},
                                       {8, 9, 1}, {7, 2, 3}, {1, 1, 1}, {1, 5, 1}, {0, 1, 1}};
  for (const auto& [workers, soft, needed] : expected) {
    TriggerRule rule{Trigger::count};
    rule.soft = soft;
    EXPECT_EQ(rule.needed(workers), needed) << workers << " workers, n = " << soft;
    EXPECT_FALSE(closes(rule, arrived(needed - 1, workers)));
    EXPECT_TRUE(closes(rule, arrived(needed, workers)));
  }
}

TEST(TriggerRule, WithNoSampleLeftWhatIsHereIsEnough) {
  const TriggerRule rule{Trigger::count, 3};
  EXPECT_TRUE(closes(rule, arrived(1, 8, true)));
}

TEST(TriggerRule, AQuorumGivesTheOthersTheirTime) {
  using std::chrono::milliseconds;
  TriggerRule rule{Trigger::quorum, 3};
  rule.grace = milliseconds(50);
  EXPECT_TRUE(rule.by_member());
  const auto view = [](std::uint64_t here, milliseconds waited) {
    TriggerView of{{4}, 5, here, 0, 5, false};
    of.worth = here;
    of.waited = waited;
    return of;
  };
  EXPECT_FALSE(closes(rule, view(2, milliseconds(500)))) << "too few";
  EXPECT_FALSE(closes(rule, view(3, milliseconds(49)))) << "within the grace";
  EXPECT_TRUE(closes(rule, view(3, milliseconds(50))));
  EXPECT_EQ(rule.decide(view(4, milliseconds(50))).reason.text(),
            "closes round 4: 4 of 5 members are in, and the others had their time");
  EXPECT_FALSE(closes(rule, view(5, milliseconds(0)))) << "all are here, but not yet in the sum";
  EXPECT_TRUE(closes(rule, {{4}, 5, 5, 5, 5, false, {}}));
}

MergeDecision merge(MergeRule::Kind kind, std::uint64_t samples, std::uint64_t batch, double mean_batch) {
  MergeRule rule;
  rule.kind = kind;
  return rule.decide({{0}, samples, batch, mean_batch});
}

TEST(MergeRule, TheMeanIsOneStep) { EXPECT_EQ(merge(MergeRule::Kind::mean, 48, 16, 16).lr_factor, 1); }

TEST(MergeRule, EachContributionCountsByItsSamples) {
  EXPECT_EQ(merge(MergeRule::Kind::each, 16, 16, 16).lr_factor, 1);
  EXPECT_EQ(merge(MergeRule::Kind::each, 48, 48, 32).lr_factor, 1.5);
  EXPECT_EQ(merge(MergeRule::Kind::each, 8, 8, 32).lr_factor, 0.25);
}

TEST(MergeRule, StepsGoAsFarAsTheyWentTogether) {
  // One step of each worker is one step, exactly, whatever the batches.
  for (const std::uint64_t batch : {1U, 3U, 7U, 49U, 64U, 1000U}) {
    EXPECT_EQ(merge(MergeRule::Kind::steps, batch, batch, 16).lr_factor, 1);
  }
  // Four steps of 16 and two of 24: 112 samples in steps of 40.
  EXPECT_DOUBLE_EQ(merge(MergeRule::Kind::steps, 112, 40, 16).lr_factor, 2.8);
}

TEST(MergeRule, NothingIsMadeOfNoSample) {
  for (const auto kind : {MergeRule::Kind::mean, MergeRule::Kind::each, MergeRule::Kind::steps}) {
    EXPECT_EQ(merge(kind, 0, 0, 16).action, MergeAction::skip);
  }
}

TEST(Staleness, IsCountedInVersions) {
  EXPECT_EQ(staleness({7}, {7}), 0U);
  EXPECT_EQ(staleness({7}, {3}), 4U);
  EXPECT_EQ(staleness({3}, {7}), 0U) << "nobody is ahead of the present";
}

TEST(Staleness, WeighsByOneOverTheAge) {
  using enum StalenessScaling;
  EXPECT_EQ(staleness_weight(inverse, 0), 1.0F);
  EXPECT_EQ(staleness_weight(inverse, 1), 1.0F);
  EXPECT_EQ(staleness_weight(inverse, 2), 0.5F);
  EXPECT_EQ(staleness_weight(inverse, 10), 1.0F / 10);
  for (const std::uint64_t age : {0U, 1U, 2U, 10U}) EXPECT_EQ(staleness_weight(none, age), 1.0F);
}

}  // namespace
}  // namespace thalweg::rules
