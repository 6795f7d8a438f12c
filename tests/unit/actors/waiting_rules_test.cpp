#include "actors/rules/clocks.hpp"
#include "actors/rules/pace.hpp"
#include "actors/rules/pull.hpp"
#include "actors/rules/trigger.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

/// Rules under which somebody waits for the slowest: none may wait for what cannot come.
namespace thalweg::rules {
namespace {

constexpr auto nobody = std::numeric_limits<std::uint64_t>::max();

TEST(Clocks, AreAsFarAsTheSlowestThatRuns) {
  Clocks clocks;
  for (const auto worker : {0U, 1U, 2U}) clocks.add(worker);
  EXPECT_EQ(clocks.slowest(), 0U);
  clocks.advance(0, 4);
  clocks.advance(1, 2);
  clocks.advance(2, 3);
  EXPECT_EQ(clocks.slowest(), 2U);
  clocks.remove(1);
  EXPECT_EQ(clocks.slowest(), 3U);
  EXPECT_EQ(clocks.of(0), 4U);
}

TEST(Clocks, RestAlsoWhenTheLastIterationIsInACommitOnlyAfterwards) {
  Clocks clocks;
  clocks.add(0);
  clocks.add(1);
  clocks.advance(0, 5);
  clocks.rest(1, 2);  // said after its second iteration, and came before what it contributed
  clocks.advance(1, 2);
  EXPECT_EQ(clocks.slowest(), 5U);
  clocks.advance(1, 3);  // it has gone on
  EXPECT_EQ(clocks.slowest(), 5U) << "the minimum never falls";
  clocks.rest(0, 5);
  clocks.rest(1, 3);
  EXPECT_EQ(clocks.slowest(), nobody);
}

TEST(Clocks, KnowWhatIsFinishedAtMostWhenAllWait) {
  Clocks clocks;
  for (const auto worker : {0U, 1U, 2U}) clocks.add(worker);
  EXPECT_EQ(clocks.room(0), 3U);
  EXPECT_EQ(clocks.room(2), 9U);
  clocks.advance(0, 1);
  EXPECT_EQ(clocks.room(0), 2U);
  clocks.rest(1, 0);
  EXPECT_EQ(clocks.room(0), 1U);
}

TEST(PaceRule, KeepsNoGapToNobody) {
  const PaceRule rule{PaceRule::Kind::stale, 3};
  EXPECT_EQ(rule.may_start({{}, {}, 0, 7, nobody}).action, PaceAction::start);
  EXPECT_EQ(rule.may_start({{}, {}, 0, 7, 4}).action, PaceAction::start);
  EXPECT_EQ(rule.may_start({{}, {}, 0, 7, 3}).action, PaceAction::wait);
}

TEST(PullRule, PullsWhenEverybodyWaitsForACommit) {
  PullRule rule;
  rule.iterations = 10;
  const std::vector<GroupProgress> groups{{leader_id(0), 2, 0}, {leader_id(1), 1, 0}};
  PullView view{Round{3}, false, false, 4, groups};
  EXPECT_EQ(rule.decide(view).action, PullAction::wait);
  view.room = 3;
  EXPECT_EQ(rule.decide(view).action, PullAction::pull);
  EXPECT_EQ(rule.decide(view).from.size(), 2U);
}

TEST(PullRule, AsksForNoMoreGroupsThanThereAre) {
  PullRule rule;
  rule.groups = 3;
  rule.each = 2;
  const std::vector<GroupProgress> groups{{leader_id(0), 2, 0}, {leader_id(1), 2, 0}};
  EXPECT_EQ(rule.decide({Round{}, false, false, 4, groups}).action, PullAction::pull);
}

TEST(TriggerRule, WaitsForNoMoreThanThereAreWhoContribute) {
  TriggerRule rule{TriggerRule::Kind::count};
  rule.count = 5;
  TriggerView view;
  view.arrived = 2;
  EXPECT_EQ(rule.decide(view).action, TriggerAction::wait);
  view.contributors = 2;
  EXPECT_EQ(rule.decide(view).action, TriggerAction::close);
}

}  // namespace
}  // namespace thalweg::rules
