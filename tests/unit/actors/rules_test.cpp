#include "actors/rules/method.hpp"

#include <gtest/gtest.h>

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

TEST(Lockstep, StartsARoundOnlyAtItsVersion) {
  const Lockstep rule;
  EXPECT_EQ(rule.may_start({{3}, {3}}).action, PaceAction::start);
  const auto wait = rule.may_start({{3}, {2}});
  EXPECT_EQ(wait.action, PaceAction::wait);
  EXPECT_EQ(wait.reason.text(), "waits for version 3 before round 3: has version 2");
}

TEST(AllMembers, ClosesWhenEveryMemberIsInTheSum) {
  const AllMembers rule;
  EXPECT_EQ(rule.decide({{5}, 3, 3, 3}).action, TriggerAction::close);
  const auto folding = rule.decide({{5}, 3, 3, 1});
  EXPECT_EQ(folding.action, TriggerAction::wait);
  EXPECT_EQ(folding.reason.text(), "round 5 is being folded: 1 of 3 are in the sum");
  const auto waiting = rule.decide({{5}, 3, 2, 2});
  EXPECT_EQ(waiting.action, TriggerAction::wait);
  EXPECT_EQ(waiting.reason.text(), "round 5 waits for members: 2 of 3 have contributed");
}

TEST(SampleMean, SkipsARoundWithoutSamples) {
  const SampleMean rule;
  EXPECT_EQ(rule.decide({{0}, 0}).action, MergeAction::skip);
  EXPECT_EQ(rule.decide({{0}, 64}).action, MergeAction::step);
}

TEST(Replace, TakesNewerParametersOnly) {
  const Replace rule;
  EXPECT_EQ(rule.decide({false, {0}, {0}}).action, AdoptAction::replace);
  EXPECT_EQ(rule.decide({true, {4}, {5}}).action, AdoptAction::replace);
  EXPECT_EQ(rule.decide({true, {5}, {5}}).action, AdoptAction::ignore);
  EXPECT_EQ(rule.decide({true, {5}, {4}}).action, AdoptAction::ignore);
}

TEST(Method, IsKnownByName) {
  Config config;
  config.sync.method = "ssgd";
  const auto method = find_method(config);
  ASSERT_TRUE(method);
  EXPECT_EQ(method->name, "ssgd");
  EXPECT_NE(method->trigger(), nullptr);

  config.sync.method = "sgd";
  const auto unknown = find_method(config);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::invalid);
  EXPECT_EQ(unknown.error().text, "sync.method: no method is called 'sgd': this release knows: ssgd");
}

}  // namespace
}  // namespace thalweg::rules
