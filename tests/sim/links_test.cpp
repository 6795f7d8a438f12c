#include "tests/sim/links.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace thalweg::sim {
namespace {

using std::chrono::milliseconds;

LinkOptions bad_weather() {
  LinkOptions options;
  options.delay_min = milliseconds(1);
  options.delay_max = milliseconds(10);
  options.jitter = 4;
  options.bytes_per_s = 1e6;
  options.loss = 0.2;
  options.resend = milliseconds(100);
  options.outage = 0.01;
  options.outage_max = milliseconds(500);
  return options;
}

TEST(Links, KeepTheOrderOfAPlaneAndLetPlanesOvertakeEachOther) {
  Links links(bad_weather(), 1);
  Time contribution{}, batch{};
  int overtaken = 0;
  for (int i = 0; i < 1000; ++i) {
    const Time now = milliseconds(i);
    const auto bulk = links.arrival(1, 2, MessageKind::contribution, 4000, now).when;
    const auto control = links.arrival(1, 2, MessageKind::batch, 0, now).when;
    EXPECT_GE(bulk, contribution);
    EXPECT_GE(control, batch);
    EXPECT_GE(bulk, now + milliseconds(1));
    if (control < bulk) ++overtaken;
    contribution = bulk;
    batch = control;
  }
  EXPECT_GT(overtaken, 100);
}

TEST(Links, OfASeedBehaveTheSameEachTime) {
  const auto arrivals = [](std::uint64_t seed) {
    Links links(bad_weather(), seed);
    std::vector<Time> times;
    for (int i = 0; i < 100; ++i) {
      times.push_back(links.arrival(3, 4, MessageKind::parameters, 100, milliseconds(20 * i)).when);
    }
    return times;
  };
  EXPECT_EQ(arrivals(1), arrivals(1));
  EXPECT_NE(arrivals(1), arrivals(2));
}

TEST(Links, TakeTimeForTheBytesOfBulkOnly) {
  LinkOptions options;
  options.bytes_per_s = 1000;
  Links links(options, 1);
  EXPECT_EQ(links.arrival(1, 2, MessageKind::contribution, 500, {}).when, milliseconds(500));
  EXPECT_EQ(links.arrival(1, 2, MessageKind::contribution, 500, {}).when, milliseconds(1000));
  EXPECT_EQ(links.arrival(1, 2, MessageKind::batch, 500, {}).when, milliseconds(0));
  EXPECT_EQ(links.arrival(2, 1, MessageKind::parameters, 100, {}).when, milliseconds(100));
}

}  // namespace
}  // namespace thalweg::sim
