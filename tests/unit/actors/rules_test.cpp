#include "actors/rules/guard.hpp"
#include "actors/rules/method.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace thalweg::rules {
namespace {

TEST(Reason, PutsNumbersWhereTheBracesAre) {
  const Reason reason{"round {} waits for {} of {} members", {812, 1, 4}};
  EXPECT_EQ(reason.text(), "round 812 waits for 1 of 4 members");
}

TEST(Reason, KeepsBracesBeyondItsFourNumbers) {
  const Reason reason{"{}{}{}{}{}", {1, 2, 3, 4}};
  EXPECT_EQ(reason.text(), "1234{}");
}

TEST(PaceRule, StartsARoundOnlyWhenItIsOpen) {
  const PaceRule rule;
  EXPECT_EQ(rule.may_start({{3}, {3}, 0, 0, 0}).action, PaceAction::start);
  EXPECT_EQ(rule.may_start({{3}, {4}, 0, 0, 0}).action, PaceAction::start);
  const auto wait = rule.may_start({{3}, {2}, 0, 0, 0});
  EXPECT_EQ(wait.action, PaceAction::wait);
  EXPECT_EQ(wait.reason.text(), "waits for the end of round 2 before round 3");
}

TEST(TriggerRule, ClosesWhenEveryMemberIsInTheSum) {
  const TriggerRule rule;
  EXPECT_EQ(rule.decide({{5}, 3, 3, 3, 0, false, 0, {}}).action, TriggerAction::close);
  const auto folding = rule.decide({{5}, 3, 3, 1, 0, false, 0, {}});
  EXPECT_EQ(folding.action, TriggerAction::wait);
  EXPECT_EQ(folding.reason.text(), "round 5 is being folded: 1 of 3 are in the sum");
  const auto waiting = rule.decide({{5}, 3, 2, 2, 0, false, 0, {}});
  EXPECT_EQ(waiting.action, TriggerAction::wait);
  EXPECT_EQ(waiting.reason.text(), "round 5 waits for members: 2 of 3 have contributed");
}

TEST(MergeRule, SkipsARoundWithoutSamples) {
  const MergeRule rule;
  EXPECT_EQ(rule.decide({{0}, 0, 0, 16}).action, MergeAction::skip);
  EXPECT_EQ(rule.decide({{0}, 64, 64, 16}).action, MergeAction::step);
}

TEST(AdoptRule, TakesNewerParametersOnly) {
  const AdoptRule rule;
  const auto decide = [&](bool has_any, Version current, Version offered) {
    return rule.decide({has_any, current, offered, {current.value}, {offered.value}}).action;
  };
  EXPECT_EQ(decide(false, {0}, {0}), AdoptAction::take);
  EXPECT_EQ(decide(true, {4}, {5}), AdoptAction::take);
  EXPECT_EQ(decide(true, {5}, {5}), AdoptAction::ignore);
  EXPECT_EQ(decide(true, {5}, {4}), AdoptAction::ignore);
}

TEST(AdoptRule, TakesTheSameParametersForTheRoundAfterOneWithoutACommit) {
  const AdoptRule rule;
  const auto same = rule.decide({true, {5}, {5}, {6}, {7}});
  EXPECT_EQ(same.action, AdoptAction::take);
  EXPECT_EQ(same.reason.text(), "keeps version 5 for round 7: the round before made no commit");
  EXPECT_EQ(rule.decide({true, {5}, {4}, {6}, {7}}).action, AdoptAction::ignore);
}

TEST(AdoptRule, HoldsBackWhatComesBeforeAPhaseOneBehindHasBegun) {
  const AdoptRule rule;
  const auto later = rule.decide({true, {4}, {5}, {4}, {5}, true});
  EXPECT_EQ(later.action, AdoptAction::later);
  EXPECT_EQ(later.reason.text(), "holds version 5 back until round 5 has begun at version 4");
  EXPECT_EQ(rule.decide({false, {0}, {5}, {0}, {5}, true}).action, AdoptAction::take) << "the first ones";
  EXPECT_EQ(rule.decide({true, {5}, {5}, {5}, {5}, true}).action, AdoptAction::ignore);
}

TEST(Guard, RefusesNumbersThatAreNotFinite) {
  const Guard guard(0);
  EXPECT_EQ(guard.decide({{0}, 1, 4, 2.5, 1e60}).action, GuardAction::accept);
  const auto refused = guard.decide({{3}, 1, 4, NAN, 1});
  EXPECT_EQ(refused.action, GuardAction::refuse_not_finite);
  EXPECT_EQ(refused.reason.text(), "refuses what w1 contributes to round 3: its numbers are not finite");
  EXPECT_EQ(guard.decide({{0}, 1, 4, 2.5, INFINITY}).action, GuardAction::refuse_not_finite);
  EXPECT_EQ(guard.decide({{0}, 1, 4, 2.5, NAN}).action, GuardAction::refuse_not_finite);
}

TEST(Guard, BoundsTheNormOfTheMeanGradient) {
  const Guard guard(0.5);
  EXPECT_EQ(guard.decide({{0}, 0, 4, 1, 2}).action, GuardAction::accept) << "2 / 4 is not past 0.5";
  const auto refused = guard.decide({{9}, 0, 4, 1, 2.001});
  EXPECT_EQ(refused.action, GuardAction::refuse_too_large);
  EXPECT_EQ(refused.reason.text(),
            "refuses what w0 contributes to round 9: its gradient is larger than guard.max_norm");
}

TEST(Method, IsKnownByName) {
  Config config;
  config.sync.method = "ssgd";
  const auto method = find_method(config);
  ASSERT_TRUE(method);
  EXPECT_EQ(method->name, "ssgd");
  EXPECT_EQ(method->trigger(0).kind, TriggerRule::Kind::all);
  EXPECT_TRUE(method->planned());

  config.sync.method = "sgd";
  const auto unknown = find_method(config);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::invalid);
  EXPECT_TRUE(
      unknown.error().text.starts_with("sync.method: no method is called 'sgd': the methods are ssgd, asp"))
      << unknown.error().text;
}

}  // namespace
}  // namespace thalweg::rules
