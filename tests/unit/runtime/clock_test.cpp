#include "runtime/time/clock.hpp"

#include "runtime/time/manual_clock.hpp"

#include <gtest/gtest.h>

namespace thalweg {
namespace {

using namespace std::chrono_literals;

TEST(SteadyClock, NeverGoesBack) {
  const SteadyClock clock;
  auto before = clock.now();
  for (int i = 0; i < 1000; ++i) {
    const auto now = clock.now();
    ASSERT_GE(now, before);
    before = now;
  }
}

TEST(SteadyClock, WallTimeIsInThisCenturyAndInMicroseconds) {
  constexpr std::uint64_t year_us = 31'556'952'000'000;
  const std::uint64_t now = SteadyClock().wall_us();
  EXPECT_GT(now, 40 * year_us);
  EXPECT_LT(now, 130 * year_us);
}

TEST(ManualClock, StandsStillUntilItIsMoved) {
  ManualClock clock(5'000'000);
  EXPECT_EQ(clock.now(), 0ns);
  EXPECT_EQ(clock.now(), 0ns);
  EXPECT_EQ(clock.wall_us(), 5'000'000U);

  clock.advance(1500us);
  EXPECT_EQ(clock.now(), 1500us);
  EXPECT_EQ(clock.wall_us(), 5'001'500U);

  clock.advance(2s);
  EXPECT_DOUBLE_EQ(seconds(clock.now()), 2.0015);
}

}  // namespace
}  // namespace thalweg
