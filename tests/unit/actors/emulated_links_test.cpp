#include "actors/emulated_links.hpp"

#include "runtime/time/clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <utility>
#include <vector>

// The times of links are pure; the thread that keeps them is tried with small times, and never for being
// fast.
namespace thalweg::actors {
namespace {

using namespace std::chrono_literals;

constexpr double megabyte_per_s = 1e6;

TEST(LinkWay, VectorsFollowEachOther) {
  LinkWay way({10ms, megabyte_per_s});
  EXPECT_EQ(way.vector_arrives(0ms, 2000), 12ms);
  EXPECT_EQ(way.vector_arrives(1ms, 3000), 15ms) << "begins when the first is on its way, at 2 ms";
  EXPECT_EQ(way.vector_arrives(100ms, 1000), 111ms) << "nothing is before it";
}

TEST(LinkWay, SmallMessagesPassVectorsBy) {
  LinkWay way({10ms, megabyte_per_s});
  EXPECT_EQ(way.vector_arrives(0ms, 1'000'000), 1010ms);
  EXPECT_EQ(way.small_arrives(1ms), 11ms);
}

TEST(LinkWay, WithoutARateOnlyDelays) {
  LinkWay way({10ms, 0});
  EXPECT_EQ(way.vector_arrives(3ms, 1'000'000'000), 13ms);
  EXPECT_EQ(way.vector_arrives(3ms, 1), 13ms);
}

TEST(LinkWay, TakesTheSmallestRate) {
  LinkWay way({0ms, 1e-300});
  EXPECT_GT(way.vector_arrives(0ms, 1000), 1h);
  EXPECT_GT(way.vector_arrives(0ms, 1000), 2h);
}

TEST(LinkOptions, AreMillisecondsAndMegabits) {
  Config config;
  config.emulate.delay_ms = 2.5;
  config.emulate.rate_mbit = 8;
  EXPECT_EQ(link_options(config).delay, 2500us);
  EXPECT_DOUBLE_EQ(link_options(config).bytes_per_s, megabyte_per_s);
}

class Timers : public ::testing::Test {
 protected:
  void send(std::chrono::nanoseconds delay, std::function<void()> deliver) {
    links.carry({"w0", 7, stamp, nullptr, delay, std::move(deliver)});
  }

  SteadyClock clock;
  Stamp stamp{{1}, {}, 0, 1, 0, MessageKind::tick};
  EmulatedLinks links{clock, {1h, 0}};
};

TEST_F(Timers, WhatCrossesNoLinkGoesStraight) {
  bool delivered = false;
  send(0ms, [&] { delivered = true; });
  EXPECT_TRUE(delivered) << "before carry returned";
}

TEST_F(Timers, GoOffInTheirOrderAndNotBeforeTheirTime) {
  std::vector<int> order;  // written by the one delivering thread
  std::promise<std::chrono::nanoseconds> last;
  const auto began = clock.now();
  send(20ms, [&] {
    order.push_back(3);
    last.set_value(clock.now());
  });
  send(1ms, [&] { order.push_back(1); });
  send(1ms, [&] { order.push_back(2); });
  EXPECT_GE(last.get_future().get() - began, 20ms);
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST_F(Timers, AreDroppedAtTheEnd) {
  const auto held = std::make_shared<int>(0);
  bool delivered = false;
  send(1h, [&, held] { delivered = true; });
  EXPECT_EQ(held.use_count(), 2);
  links.close();
  EXPECT_EQ(held.use_count(), 1) << "nothing holds an actor any more";
  send(0ms, [&] { delivered = true; });
  EXPECT_FALSE(delivered);
  links.close();
}

}  // namespace
}  // namespace thalweg::actors
