#include "actors/rules/pull.hpp"

#include "runtime/time/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

/// InHAD's trigger: when the root pulls, and from whom.
namespace thalweg::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

GroupProgress group(std::uint32_t number, std::uint64_t unpulled) {
  return {leader_id(number), 10 + unpulled, 10};
}

PullDecision decide(const PullRule& rule, const std::vector<GroupProgress>& groups, std::uint64_t workers,
                    bool under_way = false, bool drained = false) {
  return rule.decide({{6}, under_way, drained, workers, groups});
}

TEST(PullRule, PullsWhenEnoughIterationsAreUnpulled) {
  PullRule rule;
  rule.soft = 2;
  const auto wait = decide(rule, {group(0, 2), group(1, 1)}, 8);
  EXPECT_EQ(wait.action, PullAction::wait);
  EXPECT_THAT(wait.from, IsEmpty());
  EXPECT_EQ(wait.reason.text(), "does not pull: 3 iterations of 4 are unpulled, in 2 groups");
  const auto pull = decide(rule, {group(0, 4), group(1, 0)}, 8);
  EXPECT_EQ(pull.action, PullAction::pull);
  EXPECT_THAT(pull.from, ElementsAre(leader_id(0))) << "who has nothing is not asked";
  EXPECT_EQ(pull.reason.text(), "pulls round 6 from 1 groups: 4 iterations are unpulled, 4 are enough");
}

TEST(PullRule, NeedsTheWorkersOverN) {
  PullRule rule;
  rule.soft = 1;
  EXPECT_EQ(rule.needed(8), 8U);
  rule.soft = 3;
  EXPECT_EQ(rule.needed(8), 2U);
  rule.soft = 9;
  EXPECT_EQ(rule.needed(8), 1U);
  rule.iterations = 5;
  EXPECT_EQ(rule.needed(8), 5U) << "a number of its own";
}

TEST(PullRule, AnAnswerMayHoldMoreThanWasKnownOf) {
  const GroupProgress ahead{leader_id(0), 4, 6};
  EXPECT_EQ(ahead.unpulled(), 0U);
  EXPECT_EQ(decide({}, {ahead}, 1).action, PullAction::wait);
}

TEST(PullRule, CanWaitForSoManyGroupsWithSoMuchEach) {
  PullRule rule;
  rule.groups = 2;
  rule.each = 3;
  EXPECT_EQ(decide(rule, {group(0, 90), group(1, 2)}, 8).action, PullAction::wait);
  const auto pull = decide(rule, {group(0, 3), group(1, 3), group(2, 1)}, 8);
  EXPECT_THAT(pull.from, ElementsAre(leader_id(0), leader_id(1), leader_id(2)));
}

TEST(PullRule, CanAskOnlyTheFastest) {
  PullRule rule;
  rule.iterations = 6;
  rule.fastest = true;
  EXPECT_THAT(decide(rule, {group(0, 1), group(1, 4), group(2, 2), group(3, 3)}, 8).from,
              ElementsAre(leader_id(1), leader_id(3)));
  EXPECT_THAT(decide(rule, {group(0, 1), group(1, 4), group(2, 2)}, 8, false, true).from,
              ElementsAre(leader_id(1), leader_id(2), leader_id(0)))
      << "at the end everything is fetched";
}

TEST(PullRule, AtTheEndAnythingIsEnough) {
  PullRule rule;
  EXPECT_EQ(decide(rule, {group(0, 1)}, 8).action, PullAction::wait);
  EXPECT_EQ(decide(rule, {group(0, 1)}, 8, false, true).action, PullAction::pull);
  EXPECT_EQ(decide(rule, {group(0, 0)}, 8, false, true).action, PullAction::wait);
}

TEST(PullRule, OnePullAtATime) {
  const auto wait = decide({}, {group(0, 99)}, 1, true);
  EXPECT_EQ(wait.action, PullAction::wait);
  EXPECT_EQ(wait.reason.text(), "does not pull: round 6 is being pulled, 99 iterations are unpulled");
  EXPECT_EQ(decide({}, {group(0, 99)}, 1, true, true).action, PullAction::wait);
}

/// Groups that progress at random, pulls that are answered late: nobody is asked for nothing, one pull is
/// under way at a time, and none is due for longer than it takes to answer.
TEST(PullRule, NeitherHangsNorPullsFromNobodyWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const std::uint64_t workers = 1 + random.below(32);
    PullRule rule;
    rule.soft = 1 + random.below(workers + 2);
    rule.fastest = random.below(2) == 0;
    std::vector<GroupProgress> groups(1 + random.below(std::min<std::uint64_t>(workers, 6)));
    for (std::uint32_t i = 0; i < groups.size(); ++i) groups[i].id = leader_id(i);
    const auto unpulled = [&] {
      std::uint64_t sum = 0;
      for (const auto& each : groups) sum += each.unpulled();
      return sum;
    };
    const auto needed = std::max<std::uint64_t>(1, workers / rule.soft);
    std::vector<MemberId> asked;
    std::uint64_t pulls = 0;
    constexpr int steps = 2000;
    for (int step = 0; step < steps; ++step) {
      const bool ends = step > steps - 20;  // nothing new, what is there is fetched
      if (!ends) ++groups[random.below(groups.size())].iterations;
      if (!asked.empty() && (ends || random.below(4) == 0)) {
        for (auto& each : groups) {
          if (std::find(asked.begin(), asked.end(), each.id) != asked.end()) each.pulled = each.iterations;
        }
        asked.clear();
      }
      const auto decision = rule.decide({{pulls}, !asked.empty(), ends, workers, groups});
      if (!asked.empty()) {
        ASSERT_EQ(decision.action, PullAction::wait) << "seed " << seed;
        continue;
      }
      ASSERT_EQ(decision.action == PullAction::pull, unpulled() >= (ends ? 1 : needed)) << "seed " << seed;
      if (decision.action == PullAction::wait) continue;
      ++pulls;
      asked = decision.from;
      ASSERT_FALSE(asked.empty()) << "seed " << seed;
      std::uint64_t held = 0;
      for (const auto& each : groups) {
        if (std::find(asked.begin(), asked.end(), each.id) == asked.end()) continue;
        ASSERT_GT(each.unpulled(), 0U) << "seed " << seed;
        held += each.unpulled();
      }
      ASSERT_GE(held, ends ? 1 : needed) << "seed " << seed;
      if (!rule.fastest || ends) {
        ASSERT_EQ(held, unpulled()) << "seed " << seed;
      }
    }
    EXPECT_EQ(unpulled(), 0U) << "seed " << seed;
    EXPECT_GT(pulls, 5U) << "seed " << seed;
  }
}

}  // namespace
}  // namespace thalweg::rules
