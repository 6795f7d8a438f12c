#include "runtime/time/silence.hpp"

#include <gtest/gtest.h>

namespace thalweg {
namespace {

using namespace std::chrono_literals;

TEST(Silence, EveryBoundIsAShareOfTheOneNumber) {
  const Silence silence;
  EXPECT_EQ(silence.tolerance, 2s);
  EXPECT_EQ(silence.heartbeat(), 500ms);
  EXPECT_EQ(silence.check_every(), 250ms);
  EXPECT_EQ(silence.dead_after(), 3s);
  EXPECT_EQ(silence.dead_at_the_latest(), 3500ms);
  EXPECT_EQ(silence.suspect_grace(), 500ms);
  EXPECT_EQ(silence.progress_every(), 500ms);
  EXPECT_EQ(silence.progress_deadline(), 2s);
}

/// A neighbour that lives is not taken for dead, even when all but one of its heartbeats are lost.
TEST(Silence, SeveralHeartbeatsFitIntoWhatIsAllowed) {
  for (auto tolerance = Silence::tolerance_min; tolerance <= 1h; tolerance += 997ms) {
    const Silence silence{tolerance};
    EXPECT_GE(silence.dead_after(), 5 * silence.heartbeat());
    EXPECT_GE(silence.progress_deadline(), 4 * silence.progress_every());
    EXPECT_GT(silence.check_every(), 0ms);
  }
}

/// A cut right after a heartbeat, checks at any offset to it: the longest time until one of them finds that
/// the member is dead.
TEST(Silence, ACutIsFoundWithinTheBound) {
  for (const auto tolerance : {Silence::tolerance_min, 81ms, 2000ms, 2003ms, 60'000ms}) {
    const Silence silence{tolerance};
    for (auto first = 0ms; first < silence.check_every(); ++first) {
      auto now = first;
      while (now <= silence.dead_after()) now += silence.check_every();
      EXPECT_LE(now, silence.dead_at_the_latest());
      EXPECT_LE(now * 4, tolerance * 7);
    }
  }
}

TEST(Silence, IsKnownAtCompileTime) {
  static_assert(Silence{8s}.heartbeat() == 2s);
  static_assert(Silence{8s} == Silence{8000ms});
}

}  // namespace
}  // namespace thalweg
