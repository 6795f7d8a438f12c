#include "actors/rules/local.hpp"
#include "actors/rules/pace.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

/// When a worker goes on, and when it contributes.
namespace thalweg::rules {
namespace {

using Pace = PaceRule::Kind;

bool starts(const PaceRule& rule, const PaceView& view) {
  return rule.may_start(view).action == PaceAction::start;
}

TEST(PaceRule, OneBehindWaitsForTheRoundBeforeTheOneBefore) {
  const PaceRule rule{Pace::one_behind};
  EXPECT_TRUE(starts(rule, {{0}, {0}, 0, 0, 0}));
  EXPECT_TRUE(starts(rule, {{1}, {0}, 1, 1, 0})) << "round 0 is under way";
  EXPECT_TRUE(starts(rule, {{7}, {6}, 1, 9, 0}));
  EXPECT_TRUE(starts(rule, {{7}, {7}, 0, 9, 0}));
  const auto wait = rule.may_start({{7}, {5}, 2, 9, 0});
  EXPECT_EQ(wait.action, PaceAction::wait);
  EXPECT_EQ(wait.reason.text(), "waits for the end of round 5, two before round 7");
}

TEST(PaceRule, ReplyWaitsForTheAnswer) {
  const PaceRule rule{Pace::reply};
  EXPECT_TRUE(rule.replies());
  EXPECT_TRUE(starts(rule, {{9}, {0}, 0, 4, 0}));
  const auto wait = rule.may_start({{9}, {9}, 1, 4, 4});
  EXPECT_EQ(wait.action, PaceAction::wait);
  EXPECT_EQ(wait.reason.text(), "waits for the answer to its contribution of iteration 4");
}

TEST(PaceRule, FreeNeverWaits) {
  const PaceRule rule{Pace::free};
  EXPECT_FALSE(rule.replies());
  EXPECT_TRUE(starts(rule, {{9}, {0}, 100, 1000, 0}));
}

TEST(PaceRule, StaleKeepsTheGap) {
  for (std::uint64_t gap = 0; gap < 5; ++gap) {
    const PaceRule rule{Pace::stale, gap};
    EXPECT_TRUE(rule.replies());
    for (std::uint64_t slowest = 0; slowest < 8; ++slowest) {
      for (std::uint64_t clock = slowest; clock < 16; ++clock) {
        EXPECT_EQ(starts(rule, {{0}, {0}, 0, clock, slowest}), clock - slowest <= gap)
            << "clock " << clock << ", slowest " << slowest << ", gap " << gap;
      }
    }
    EXPECT_FALSE(starts(rule, {{0}, {0}, 1, 0, 0})) << "its contribution is not answered";
  }
  const auto wait = PaceRule{Pace::stale, 3}.may_start({{0}, {0}, 0, 9, 5});
  EXPECT_EQ(wait.reason.text(),
            "waits after iteration 9: the slowest worker has finished 5, and 3 more are allowed");
}

TEST(PaceRule, StaleIsAsFreeWhereNobodyAnswers) {
  PaceRule rule{Pace::stale, 2};
  rule.answered = false;
  EXPECT_FALSE(rule.replies());
  EXPECT_TRUE(starts(rule, {{0}, {0}, 7, 2, 0}));
  EXPECT_FALSE(starts(rule, {{0}, {0}, 7, 3, 0}));
}

TEST(PaceRule, StaleWaitsForNobodyWhenNobodyRuns) {
  constexpr auto nobody = std::numeric_limits<std::uint64_t>::max();
  EXPECT_TRUE(starts({Pace::stale, 3}, {{0}, {0}, 0, 1000, nobody}));
  EXPECT_TRUE(starts({Pace::stale, nobody}, {{0}, {0}, 0, 1000, 999}));
}

TEST(PaceRule, WarmsUpInLockstep) {
  for (const auto kind : {Pace::lockstep, Pace::one_behind, Pace::free, Pace::reply}) {
    PaceRule rule{kind};
    rule.warmup_rounds = 3;
    EXPECT_TRUE(starts(rule, {{2}, {2}, 0, 0, 0}));
    EXPECT_FALSE(starts(rule, {{2}, {1}, 0, 0, 0})) << "a round of the warm-up";
    EXPECT_EQ(starts(rule, {{3}, {2}, 0, 0, 0}), kind != Pace::lockstep) << "the first one after it";
  }
}

using Local = LocalRule::Kind;

bool contributes(const LocalRule& rule, const LocalView& view) {
  return rule.after_step(view).action == LocalAction::contribute;
}

TEST(LocalRule, TakesSoManySteps) {
  LocalRule rule{Local::steps, 4};
  rule.planned = false;
  EXPECT_FALSE(contributes(rule, {3, {5}, {9}, true})) << "the round before has long been closed";
  const auto done = rule.after_step({4, {5}, {5}, false});
  EXPECT_EQ(done.action, LocalAction::contribute);
  EXPECT_EQ(done.reason.text(), "contributes to round 5 after 4 steps, the most there are");
}

TEST(LocalRule, FreeGoesOnWhileTheRoundBeforeIsUnderWay) {
  LocalRule rule{Local::free, 16};
  rule.planned = false;
  EXPECT_FALSE(contributes(rule, {1, {5}, {4}, false}));
  EXPECT_FALSE(contributes(rule, {15, {5}, {4}, false}));
  EXPECT_TRUE(contributes(rule, {16, {5}, {4}, false})) << "H_max";
  EXPECT_TRUE(contributes(rule, {1, {5}, {5}, false})) << "one step at least, and no more";
  EXPECT_EQ(rule.after_step({2, {5}, {5}, false}).reason.text(),
            "contributes to round 5 after 2 steps: the round before is closed");
}

TEST(LocalRule, APlannedShareIsDoneWhenItsLastStepIs) {
  const LocalRule rule{Local::steps, 4};
  EXPECT_FALSE(contributes(rule, {4, {0}, {0}, false}));
  EXPECT_TRUE(contributes(rule, {1, {0}, {0}, true}));
}

TEST(LocalRule, WarmsUpWithOneStep) {
  LocalRule rule{Local::free, 8, 3};
  rule.planned = false;
  EXPECT_EQ(rule.most({2}), 1U);
  EXPECT_EQ(rule.most({3}), 8U);
  EXPECT_TRUE(contributes(rule, {1, {2}, {1}, false}));
  EXPECT_FALSE(contributes(rule, {1, {3}, {2}, false}));
}

}  // namespace
}  // namespace thalweg::rules
