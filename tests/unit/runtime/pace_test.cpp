#include "runtime/net/pace.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace thalweg::net {
namespace {

using namespace std::chrono_literals;

/// A link that delivers what it is sent, up to its rate and up to a window for each round trip; what it shows
/// for each sample is off by up to a third, as TCP's own figures are.
struct Link {
  std::uint64_t rate = 0;
  std::chrono::microseconds round_trip{};
  Pace pace = {};
  Pace::Time now = {};
  int step = 0;

  /// Sends without a pause for `time`.
  Pace::Setting run(std::chrono::milliseconds time) {
    for (const auto end = now + time; now < end; now += 5ms) {
      const Pace::Setting& setting = pace.setting();
      const double per_window =
          static_cast<double>(setting.window) / std::chrono::duration<double>(round_trip).count();
      double delivered = std::min(static_cast<double>(rate), per_window);
      if (setting.bytes_per_s > 0) delivered = std::min(delivered, static_cast<double>(setting.bytes_per_s));
      const double off = (step++ % 3 - 1) / 3.0;
      pace.update({.least_round_trip = round_trip,
                   .delivered_bytes_per_s = static_cast<std::uint64_t>(delivered * (1 + off))},
                  now);
    }
    return pace.setting();
  }

  /// Mean of what it is asked to carry over `time`, as a share of its rate; 0: it is not paced all the time.
  double share(std::chrono::milliseconds time) {
    double sum = 0;
    int count = 0;
    for (const auto end = now + time; now < end; ++count) {
      const auto bytes_per_s = run(5ms).bytes_per_s;
      if (bytes_per_s == 0) return 0;
      sum += static_cast<double>(bytes_per_s) / static_cast<double>(rate);
    }
    return sum / count;
  }
};

TEST(Pace, LeavesFastLinksAlone) {
  Link link{.rate = 5'000'000'000, .round_trip = 50us};
  const auto setting = link.run(5s);
  EXPECT_EQ(setting.bytes_per_s, 0U);
  EXPECT_EQ(setting.window, Pace::window_first);
}

TEST(Pace, KeepsBelowASlowLinksRate) {
  Link link{.rate = 25'000'000, .round_trip = 10ms};
  EXPECT_EQ(link.pace.setting(), Pace::Setting{});
  link.run(1s);
  EXPECT_NEAR(link.share(20s), 0.9, 0.06);
  EXPECT_EQ(link.pace.setting().window, Pace::window_min);
}

TEST(Pace, FillsALongFatLink) {
  Link link{.rate = 250'000'000, .round_trip = 100ms};
  link.run(10s);
  EXPECT_GT(link.share(10s), 0.8);
  EXPECT_NEAR(static_cast<double>(link.pace.setting().window), 50e6, 5e6);
}

TEST(Pace, StopsAtTheLargestWindow) {
  Link link{.rate = 2'000'000'000, .round_trip = 100ms};
  EXPECT_EQ(link.run(10s).window, Pace::window_max);
}

TEST(Pace, FindsALinkFasterAgain) {
  Link link{.rate = 2'500'000, .round_trip = 10ms};
  link.run(10s);
  link.rate = 25'000'000;
  link.run(5s);
  EXPECT_GT(link.share(5s), 0.8);
}

TEST(Pace, FollowsALinkThatBecomesSlower) {
  Link link{.rate = 25'000'000, .round_trip = 10ms};
  link.run(10s);
  link.rate = 5'000'000;
  link.run(2s);
  EXPECT_NEAR(link.share(10s), 0.9, 0.06);
}

TEST(Pace, LearnsNothingFromHavingLittleToSend) {
  Link link{.rate = 25'000'000, .round_trip = 10ms};
  link.run(10s);
  const auto before = link.pace.setting();
  for (int i = 0; i < 1000; ++i) {
    link.now += 5ms;
    link.pace.update({.least_round_trip = 10ms, .delivered_bytes_per_s = 1000, .application_limited = true},
                     link.now);
  }
  EXPECT_EQ(link.pace.setting(), before);
}

TEST(Pace, GoesOnAfterAPause) {
  Link link{.rate = 25'000'000, .round_trip = 10ms};
  link.run(10s);
  link.now += 1h;
  link.run(100ms);
  EXPECT_NEAR(link.share(20s), 0.9, 0.06);
}

}  // namespace
}  // namespace thalweg::net
