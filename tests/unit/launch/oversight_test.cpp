#include "tools/launch/oversight.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

/// The whole life of a launch without a process: what is told, what comes of it.
namespace thalweg::launch {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr pid_t root_pid = 100;
constexpr Ending well{0, 0};
constexpr Ending killed{0, SIGKILL};
constexpr Ending asked{128 + SIGTERM, 0};

class OversightTest : public ::testing::Test {
 protected:
  void run() {
    oversight.begin(0s);
    oversight.listens(1s);
  }
  Orders ended(std::chrono::nanoseconds now, Member member, Ending how) {
    return oversight.ended(now, member, root_pid + static_cast<pid_t>(member), how);
  }

  Oversight oversight{{.nodes = {"node-1", "node-2"}, .restarts = 3, .logs = "out/log"}};
};

TEST_F(OversightTest, NodesAreStartedWhenTheRootListensAndAllEndByThemselves) {
  EXPECT_EQ(oversight.begin(0s), (Orders{{}, {}, {0}}));
  EXPECT_EQ(oversight.next(), std::nullopt) << "nothing is due";
  EXPECT_EQ(oversight.listens(1s), (Orders{{}, {}, {1, 2}}));
  EXPECT_EQ(ended(60s, 2, well), Orders{});
  EXPECT_EQ(ended(60s, 0, well), Orders{});
  EXPECT_FALSE(oversight.done());
  EXPECT_EQ(ended(61s, 1, well), Orders{});
  ASSERT_TRUE(oversight.done());
  EXPECT_EQ(oversight.exit_code(), 0);
}

TEST_F(OversightTest, ARootThatCannotBeginEndsAllWithItsCode) {
  oversight.begin(0s);
  EXPECT_EQ(ended(1s, 0, {2, 0}), Orders{}) << "it has said why";
  ASSERT_TRUE(oversight.done());
  EXPECT_EQ(oversight.exit_code(), 2);
}

TEST_F(OversightTest, ARootKilledBeforeItListenedHasNoRunToGoOnWith) {
  oversight.begin(0s);
  EXPECT_THAT(ended(1s, 0, killed).lines,
              ElementsAre("the root (pid 100) was killed by signal 9: the run ends"));
  ASSERT_TRUE(oversight.done());
  EXPECT_EQ(oversight.exit_code(), 137);
}

TEST_F(OversightTest, ANodeIsStartedAgainEachTimeLater) {
  run();
  const Orders first = ended(5s, 1, killed);
  EXPECT_EQ(first.lines, std::vector<std::string>{
                             "node-1 (pid 101) was killed by signal 9: starting it again in 1 s (1 of 3)"});
  EXPECT_THAT(first.starts, IsEmpty());
  EXPECT_EQ(oversight.next(), 6s);
  EXPECT_EQ(oversight.pass(5900ms), Orders{});
  EXPECT_THAT(oversight.pass(6s).starts, ElementsAre(1));
  EXPECT_THAT(ended(7s, 1, {1, 0}).lines[0],
              HasSubstr("ended with exit code 1: starting it again in 2 s (2 of 3)"));
  EXPECT_EQ(oversight.next(), 9s);
  oversight.pass(9s);
  // It ran well for a while, so the next restart need not wait long; the count goes on.
  EXPECT_THAT(ended(100s, 1, killed).lines[0], HasSubstr("in 1 s (3 of 3)"));
}

TEST_F(OversightTest, WhenItsRestartsAreUsedUpTheRunEndsWithACheckpoint) {
  run();
  std::chrono::nanoseconds now = 5s;
  for (int restart = 0; restart < 3; ++restart, now += 10s) {
    ended(now, 2, killed);
    oversight.pass(now + 9s);
  }
  const Orders last = ended(now, 2, killed);
  EXPECT_THAT(last.lines,
              ElementsAre("node-2 (pid 102) was killed by signal 9: it was started again 3 times: "
                          "the run ends; see out/log"));
  EXPECT_THAT(last.signals, ElementsAre(Pair(0, SIGTERM)));
  ended(now + 1s, 0, asked);
  ended(now + 1s, 1, well);
  ASSERT_TRUE(oversight.done());
  EXPECT_EQ(oversight.exit_code(), 1);
}

TEST_F(OversightTest, ANodeThatIsNotUnderstoodOrWasAskedToLeaveIsNotStartedAgain) {
  run();
  EXPECT_THAT(ended(5s, 1, asked).lines[0], HasSubstr("it was asked to leave"));
  EXPECT_EQ(oversight.next(), std::nullopt);
  const Orders hopeless = ended(6s, 2, {2, 0});
  EXPECT_THAT(hopeless.lines[0], HasSubstr("ended with exit code 2: it would again: the run ends"));
  EXPECT_THAT(hopeless.signals, ElementsAre(Pair(0, SIGTERM)));
}

TEST_F(OversightTest, ARootThatWasKilledComesBackAndNodesWaitForIt) {
  run();
  EXPECT_THAT(ended(10s, 0, killed).lines[0],
              HasSubstr("the root (pid 100) was killed by signal 9: starting it again in 1 s (1 of 3)"));
  ended(10s, 1, {1, 0});
  EXPECT_THAT(oversight.pass(12s).starts, ElementsAre(0)) << "the node is due too, and waits";
  EXPECT_EQ(oversight.next(), std::nullopt);
  EXPECT_THAT(oversight.listens(15s).starts, ElementsAre(1));
}

TEST_F(OversightTest, ARootKilledTooOftenEndsTheRunAndTheNodes) {
  run();
  std::chrono::nanoseconds now = 10s;
  for (int restart = 0; restart < 3; ++restart, now += 40s) {
    ended(now, 0, killed);
    oversight.pass(now + 30s);
    oversight.listens(now + 31s);
  }
  const Orders last = ended(now, 0, killed);
  EXPECT_THAT(last.lines[0], HasSubstr("it was started again 3 times: the run ends"));
  EXPECT_THAT(last.signals, ElementsAre(Pair(1, SIGTERM), Pair(2, SIGTERM))) << "nobody else tells them";
  ended(now, 1, asked);
  ended(now, 2, asked);
  ASSERT_TRUE(oversight.done());
  EXPECT_EQ(oversight.exit_code(), 1);
}

TEST_F(OversightTest, CtrlCAsksTheRootAndThenTheNodes) {
  run();
  EXPECT_EQ(oversight.stop(10s, SIGINT), (Orders{{}, {{0, SIGTERM}}, {}}));
  EXPECT_EQ(ended(11s, 2, killed), Orders{}) << "nobody is started again now";
  EXPECT_EQ(ended(12s, 0, asked), Orders{});
  EXPECT_EQ(oversight.next(), 22s);
  EXPECT_THAT(oversight.pass(22s).signals, ElementsAre(Pair(1, SIGTERM)));
  EXPECT_EQ(oversight.next(), 32s);
  EXPECT_THAT(oversight.pass(32s).signals, ElementsAre(Pair(1, SIGKILL)));
  ended(33s, 1, killed);
  ASSERT_TRUE(oversight.done());
  EXPECT_EQ(oversight.exit_code(), 130);
}

TEST_F(OversightTest, ARootThatDoesNotEndIsKilledInTheEnd) {
  run();
  oversight.stop(10s, SIGTERM);
  EXPECT_EQ(oversight.next(), 70s);
  const Orders orders = oversight.pass(70s);
  EXPECT_THAT(orders.lines[0], HasSubstr("the root did not end within 60 s and is killed"));
  EXPECT_THAT(orders.signals, ElementsAre(Pair(0, SIGKILL)));
  EXPECT_THAT(ended(71s, 0, killed).signals, ElementsAre(Pair(1, SIGTERM), Pair(2, SIGTERM)));
}

TEST_F(OversightTest, TheSecondCtrlCKillsAllAtOnce) {
  run();
  oversight.stop(10s, SIGINT);
  EXPECT_THAT(oversight.stop(11s, SIGINT).signals,
              ElementsAre(Pair(0, SIGKILL), Pair(1, SIGKILL), Pair(2, SIGKILL)));
  for (const Member member : {0, 1, 2}) ended(11s, member, killed);
  ASSERT_TRUE(oversight.done());
  EXPECT_EQ(oversight.exit_code(), 130);
}

TEST_F(OversightTest, CtrlCWhileTheRootIsAwayEndsTheNodes) {
  run();
  ended(10s, 0, killed);
  EXPECT_THAT(oversight.stop(10s, SIGINT).signals, ElementsAre(Pair(1, SIGTERM), Pair(2, SIGTERM)));
  ended(10s, 1, asked);
  ended(10s, 2, asked);
  ASSERT_TRUE(oversight.done());
  EXPECT_EQ(oversight.exit_code(), 137) << "the root's last word";
}

}  // namespace
}  // namespace thalweg::launch
