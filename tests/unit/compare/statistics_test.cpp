#include "tools/compare/statistics.hpp"

#include "tests/unit/compare/made_up_comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace thalweg::compare {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SpreadOf, LeavesOutWhatIsNotKnown) {
  const Spread spread = spread_of({1, unknown, 4});
  EXPECT_EQ(spread.count, 2U);
  EXPECT_EQ(spread.mean, 2.5);
  EXPECT_EQ(spread.range(), 3);
  EXPECT_FALSE(spread_of({unknown}).known());
}

TEST(FiguresOf, CountRunsThatCameToTheirEnd) {
  const Comparison comparison = made_up_comparison();
  const auto figures = figures_of(comparison, 0.8);
  ASSERT_EQ(figures.size(), 3U);
  EXPECT_DOUBLE_EQ(figures[0].accuracy.mean, 0.81);
  EXPECT_DOUBLE_EQ(figures[1].wall_s.mean, 5);
  EXPECT_EQ(figures[1].others, "");
  EXPECT_EQ(figures[2].done, 1U);
  EXPECT_EQ(figures[2].others, "1 diverged");
  EXPECT_DOUBLE_EQ(figures[2].accuracy.mean, 0.9);
  EXPECT_FALSE(figures[0].speed_share.known());
}

TEST(FiguresOf, AddUpLevelsWorkersAndAges) {
  const auto figures = figures_of(made_up_comparison(), 0.8);
  EXPECT_DOUBLE_EQ(figures[0].bytes_per_sample.mean, 10);
  EXPECT_DOUBLE_EQ(figures[0].up[1].mean, 3000);
  EXPECT_DOUBLE_EQ(figures[0].workers[0].busy, 0.5);
  EXPECT_DOUBLE_EQ(figures[0].workers[1].busy, 1);
  EXPECT_THAT(figures[0].staleness_shares, ElementsAre(DoubleEq(0.25), DoubleEq(0.5), DoubleEq(0.25)));
}

TEST(TargetOf, IsNearTheLowestFinalAccuracyUnlessAskedFor) {
  Comparison comparison = made_up_comparison();
  EXPECT_DOUBLE_EQ(target_of(comparison), 0.81 * 0.99);
  comparison.asked_target = 0.5;
  EXPECT_EQ(target_of(comparison), 0.5);
  comparison.asked_target.reset();
  comparison.runs.clear();
  EXPECT_TRUE(std::isnan(target_of(comparison)));
}

TEST(TargetOf, LeavesOutWhatLearnedNothing) {
  Comparison comparison = made_up_comparison();
  for (compare::Run& run : comparison.runs) {
    if (run.contestant == 0 && run.seed == 8) run.summary.accuracy = 0.1;
  }
  EXPECT_THAT(without_learning(comparison), ElementsAre(0));
  EXPECT_DOUBLE_EQ(target_of(comparison), 0.9 * 0.99);
}

TEST(TimeTo, IsLinearBetweenEvaluations) {
  const std::vector<Point> curve = {{100, 2, 0.5}, {200, 4, 0.7}, {300, 6, 0.6}};
  EXPECT_DOUBLE_EQ(time_to(curve, 0.6), 3);
  EXPECT_DOUBLE_EQ(time_to(curve, 0.7), 4);
  EXPECT_DOUBLE_EQ(time_to(curve, 0.4), 2 * 0.4 / 0.5) << "along a line from the start";
  EXPECT_TRUE(std::isnan(time_to(curve, 0.8)));
  EXPECT_TRUE(std::isnan(time_to(curve, unknown)));
  EXPECT_TRUE(std::isnan(time_to({}, 0.8)));
}

TEST(CheckSamples, WarnsWhereWorkDiffers) {
  Comparison comparison = made_up_comparison();
  EXPECT_EQ(check_samples(comparison).words(), "Every finished run committed 1,000 samples.");
  comparison.runs[0].summary.samples = 1005;
  EXPECT_THAT(check_samples(comparison).words(), HasSubstr("equal within 0.50 %"));
  comparison.runs[0].summary.samples = 1200;
  EXPECT_THAT(check_samples(comparison).words(),
              HasSubstr("Warning: finished runs committed from 1,000 to 1,200"));
  comparison.runs.clear();
  EXPECT_EQ(check_samples(comparison).words(), "No run came to its end.");
}

TEST(MeanCurve, StandsWhereAllCurvesAreKnown) {
  const std::vector<Point> one = {{0, 0, 4}, {100, 1, 2}};
  const std::vector<Point> other = {{50, 1, 2}, {150, 3, 0}};
  const auto mean = mean_curve({&one, &other}, Along::samples);
  ASSERT_EQ(mean.size(), 2U);
  EXPECT_DOUBLE_EQ(mean[0].samples, 50);
  EXPECT_DOUBLE_EQ(mean[0].value, 2.5);
  EXPECT_DOUBLE_EQ(mean[1].samples, 100);
  EXPECT_DOUBLE_EQ(mean[1].value, 1.5);
  EXPECT_TRUE(mean_curve({}, Along::time).empty());
}

}  // namespace
}  // namespace thalweg::compare
