#include "models/schedule.hpp"

#include <gtest/gtest.h>

/// Learning rates worked out by hand: 2 workers with a batch of 10 each, a budget of 1000 samples, lr 0.4.
namespace thalweg::models {
namespace {

Schedule make(const std::string& name, std::size_t warmup_steps, std::uint64_t budget = 1000) {
  Config config;
  config.topology.workers = 2;
  config.topology.groups = 1;
  config.train.batch = {10};
  config.train.lr = 0.4;
  config.train.schedule = name;
  config.train.warmup_steps = warmup_steps;
  return {config, budget};
}

TEST(Schedule, Constant) {
  const Schedule schedule = make("constant", 0);
  EXPECT_DOUBLE_EQ(schedule.lr_at(0), 0.4);
  EXPECT_DOUBLE_EQ(schedule.lr_at(999), 0.4);
  EXPECT_DOUBLE_EQ(schedule.lr_at(5000), 0.4);
}

TEST(Schedule, WarmUpIsLinearAndEndsAtTheFullRate) {
  const Schedule schedule = make("constant", 4);  // 80 samples
  EXPECT_DOUBLE_EQ(schedule.lr_at(0), 0.1);
  EXPECT_DOUBLE_EQ(schedule.lr_at(20), 0.2);
  EXPECT_DOUBLE_EQ(schedule.lr_at(40), 0.3);
  EXPECT_DOUBLE_EQ(schedule.lr_at(60), 0.4);
  EXPECT_DOUBLE_EQ(schedule.lr_at(70), 0.4);
  EXPECT_DOUBLE_EQ(schedule.lr_at(80), 0.4);
}

TEST(Schedule, StepCutsAtSharesOfTheBudget) {
  const Schedule schedule = make("step", 0);  // at 0.5 and 0.75, by 0.1
  EXPECT_DOUBLE_EQ(schedule.lr_at(0), 0.4);
  EXPECT_DOUBLE_EQ(schedule.lr_at(499), 0.4);
  EXPECT_DOUBLE_EQ(schedule.lr_at(500), 0.04);
  EXPECT_DOUBLE_EQ(schedule.lr_at(749), 0.04);
  EXPECT_DOUBLE_EQ(schedule.lr_at(750), 0.004);
}

TEST(Schedule, CosineFallsToZero) {
  const Schedule schedule = make("cosine", 0);
  EXPECT_DOUBLE_EQ(schedule.lr_at(0), 0.4);
  EXPECT_NEAR(schedule.lr_at(250), 0.4 * 0.8535533905932737, 1e-12);
  EXPECT_NEAR(schedule.lr_at(500), 0.2, 1e-12);
  EXPECT_NEAR(schedule.lr_at(1000), 0, 1e-12);
  EXPECT_NEAR(schedule.lr_at(1500), 0, 1e-12) << "past the budget it stays there";
}

TEST(Schedule, CosineBeginsAfterTheWarmUp) {
  const Schedule schedule = make("cosine", 10);  // 200 samples, 800 are left
  EXPECT_DOUBLE_EQ(schedule.lr_at(0), 0.04);
  EXPECT_DOUBLE_EQ(schedule.lr_at(200), 0.4);
  EXPECT_NEAR(schedule.lr_at(600), 0.2, 1e-12);
}

TEST(Schedule, ABudgetShorterThanTheWarmUpOnlyWarmsUp) {
  const Schedule schedule = make("cosine", 10, 100);
  EXPECT_DOUBLE_EQ(schedule.lr_at(80), 0.2);
  EXPECT_DOUBLE_EQ(schedule.lr_at(300), 0.4);
}

}  // namespace
}  // namespace thalweg::models
