#include "tools/compare/axis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace thalweg::compare {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

TEST(Axis, HasRoundMarks) {
  EXPECT_THAT(make_axis(0, 180000, 4, false, false).ticks, ElementsAre(0, 50000, 100000, 150000));
  EXPECT_THAT(
      make_axis(0.1, 0.9, 4, true, true).ticks,
      ElementsAre(DoubleEq(0), DoubleEq(0.2), DoubleEq(0.4), DoubleEq(0.6), DoubleEq(0.8), DoubleEq(1)));
}

TEST(Axis, WidensToItsMarks) {
  const Axis axis = make_axis(0.13, 2.31, 5, true, false);
  EXPECT_DOUBLE_EQ(axis.low, 0);
  EXPECT_DOUBLE_EQ(axis.high, 2.5);
}

TEST(Axis, LogarithmicOnesHaveEqualRatiosEquallyFarApart) {
  const Axis axis = make_log_axis(0.5, 50);
  EXPECT_THAT(axis.ticks, ElementsAre(DoubleEq(0.5), 1, 2, 5, 10, 20, 50));
  EXPECT_DOUBLE_EQ(axis.share(5), 0.5);
  EXPECT_DOUBLE_EQ(axis.share(0), 0);
  EXPECT_EQ(make_log_axis(0.001, 10).ticks.size(), 5U);
}

TEST(Axis, OfOneValueHasALength) {
  EXPECT_LT(make_axis(3, 3, 5, true, false).low, make_axis(3, 3, 5, true, false).high);
  EXPECT_LT(make_axis(0, 0, 5, false, false).low, make_axis(0, 0, 5, false, false).high);
}

TEST(Axis, WritesShortNumbers) {
  EXPECT_EQ(short_number(20000), "20k");
  EXPECT_EQ(short_number(1500000), "1.5M");
  EXPECT_EQ(short_number(0.25), "0.25");
  EXPECT_EQ(short_number(-1e-17), "0");
  EXPECT_EQ(make_axis(0, 1, 5, false, true).text(0.9), "90 %");
}

}  // namespace
}  // namespace thalweg::compare
