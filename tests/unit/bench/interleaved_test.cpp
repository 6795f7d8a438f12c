#include "tools/bench/interleaved.hpp"

#include "runtime/time/manual_clock.hpp"

#include <gtest/gtest.h>

namespace thalweg::bench {
namespace {

using namespace std::chrono_literals;

/// A contestant whose costs are given, and that says when it is its turn.
Contestant scripted(std::string name, std::vector<double> costs, std::string& turns) {
  return {name, [name, costs = std::move(costs), &turns, at = std::size_t{0}]() mutable -> Result<double> {
            turns += name;
            return costs.at(at++);
          }};
}

TEST(Interleaved, ContestantsTakeTurnsAndTheFirstTurnDoesNotCount) {
  std::string turns;
  const auto measured =
      Interleaved::measure({scripted("a", {99, 1, 2, 3}, turns), scripted("b", {99, 2, 2, 2}, turns)}, 3);
  ASSERT_TRUE(measured);
  EXPECT_EQ(turns, "abababab");
  EXPECT_EQ(measured->cost(0).median, 2);
  EXPECT_EQ(measured->cost(0).least, 1);
  EXPECT_EQ(measured->cost(0).largest, 3);
}

TEST(Interleaved, ARatioIsOfNeighboursAndNotOfMedians) {
  std::string turns;
  // The machine is ten times slower in the second turn, for both: no ratio shows it.
  const auto measured =
      Interleaved::measure({scripted("a", {0, 1, 10, 1}, turns), scripted("b", {0, 2, 20, 2}, turns)}, 3);
  ASSERT_TRUE(measured);
  const Spread ratio = measured->ratio(0, 1);
  EXPECT_EQ(ratio.median, 0.5);
  EXPECT_EQ(ratio.least, 0.5);
  EXPECT_EQ(ratio.largest, 0.5);
}

TEST(Interleaved, TheFirstFailureEndsIt) {
  std::string turns;
  const Contestant fails{"b", []() -> Result<double> { return Error{ErrorCode::io, "no disk"}; }};
  const auto measured = Interleaved::measure({scripted("a", {1, 1}, turns), fails}, 1);
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().text, "no disk");
  EXPECT_EQ(turns, "a");
}

TEST(Interleaved, TimedWorkCostsTheClocksTimeOverItsUnits) {
  ManualClock clock;
  const Contestant contestant = timed("work", clock, 4, [&] { clock.advance(2s); });
  const auto cost = contestant.run();
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(*cost, 0.5);
}

TEST(Spread, TheMedianOfAnEvenNumberLiesBetweenTheTwoInTheMiddle) {
  EXPECT_EQ(spread_of({4, 1, 3, 2}).median, 2.5);
  EXPECT_EQ(spread_of({3, 1, 2}).median, 2);
  EXPECT_EQ(spread_of({7}).largest, 7);
}

}  // namespace
}  // namespace thalweg::bench
