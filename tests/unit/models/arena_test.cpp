#include "models/arena.hpp"

#include "runtime/time/random.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace thalweg::models {
namespace {

void expect_sound(const std::vector<Lifetime>& lifetimes, const ArenaPlan& plan) {
  ASSERT_EQ(plan.offsets.size(), lifetimes.size());
  for (std::size_t a = 0; a < lifetimes.size(); ++a) {
    EXPECT_EQ(plan.offsets[a] % 16, 0U);
    EXPECT_LE(plan.offsets[a] + lifetimes[a].floats, plan.floats);
    for (std::size_t b = 0; b < a; ++b) {
      const bool same_time =
          lifetimes[a].first <= lifetimes[b].last && lifetimes[b].first <= lifetimes[a].last;
      const bool same_place = plan.offsets[a] < plan.offsets[b] + lifetimes[b].floats &&
                              plan.offsets[b] < plan.offsets[a] + lifetimes[a].floats;
      EXPECT_FALSE(same_time && same_place) << a << " and " << b;
    }
  }
}

TEST(Arena, SharesMemoryBetweenThoseThatNeverMeet) {
  const std::vector<Lifetime> lifetimes{{100, 0, 1}, {32, 1, 2}, {100, 2, 3}, {16, 3, 4}};
  const ArenaPlan plan = plan_arena(lifetimes);
  expect_sound(lifetimes, plan);
  EXPECT_EQ(plan.floats, 112U + 32U);
}

TEST(Arena, IsEmptyForNothing) { EXPECT_EQ(plan_arena({}).floats, 0U); }

TEST(Arena, NeverOverlapsWhatLivesTogether) {
  Random random(5);
  for (int round = 0; round < 50; ++round) {
    std::vector<Lifetime> lifetimes;
    for (std::size_t i = 0; i < 20; ++i) {
      const std::size_t first = random.below(30);
      lifetimes.push_back({random.below(200), first, first + random.below(10)});
    }
    expect_sound(lifetimes, plan_arena(lifetimes));
  }
}

}  // namespace
}  // namespace thalweg::models
