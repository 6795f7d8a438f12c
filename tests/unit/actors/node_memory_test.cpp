#include "actors/held_version.hpp"
#include "actors/wait_board.hpp"
#include "gpu/buffer.hpp"
#include "runtime/time/manual_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

/// What a node keeps beside its actors: the newest version, and who waits for whom.
namespace thalweg::actors {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

Parameters version(std::uint64_t number, bool with_ledger = true) {
  Parameters parameters;
  parameters.payload = gpu::BufferPool::make_host(16, 1)->take();
  parameters.record.version = Version{number};
  parameters.record.committed_samples = 10 * number;
  parameters.answer = {worker_id(3), 7};
  parameters.moves = parameters.payload;
  if (with_ledger) {
    parameters.ledger = std::make_shared<Ledger>(Ledger{{{0, 0, 10 * number}}, {}, 0, 0});
  }
  return parameters;
}

TEST(HeldVersion, IsTheNewestThatCameWithItsLedger) {
  HeldVersion held;
  EXPECT_FALSE(held.newest());
  held.offer(version(4, false));
  EXPECT_FALSE(held.newest()) << "nobody could go on from it";
  held.offer(version(5));
  held.offer(version(3));
  ASSERT_TRUE(held.newest());
  EXPECT_EQ(held.newest()->version(), Version{5});
  EXPECT_EQ(held.newest()->ledger->spent.front().count, 50U);
}

TEST(HeldVersion, IsNobodysAnswerAndKeepsNoMoves) {
  HeldVersion held;
  held.offer(version(5));
  EXPECT_FALSE(held.newest()->answer);
  EXPECT_EQ(held.newest()->moves, nullptr);
}

TEST(HeldVersion, OutlivesThePoolItsMemoryIsFrom) {
  HeldVersion held;
  {
    auto pool = gpu::BufferPool::make_host(16, 1);
    auto parameters = version(1);
    auto buffer = pool->take();
    buffer->values()[3] = 2.5F;
    parameters.payload = buffer;
    held.offer(parameters);
  }
  EXPECT_EQ(held.newest()->payload->host()[3], 2.5F);
}

TEST(HeldVersion, RemembersWhomItFollows) {
  HeldVersion held;
  EXPECT_EQ(held.run(), "");
  held.follow("abc", 3);
  EXPECT_EQ(held.run(), "abc");
  EXPECT_EQ(held.term(), 3U);
}

TEST(WaitBoard, ShowsWhoWaitsForWhomTheLongestFirst) {
  ManualClock clock;
  WaitBoard board(clock);
  board.waits({ActorNumber{1}, "w1", "g0", {"waits for round {}", {7}}});
  clock.advance(std::chrono::milliseconds(300));
  board.waits({ActorNumber{2}, "g0", "w5", {"round {} waits for members", {7}}});
  clock.advance(std::chrono::milliseconds(200));
  const auto waits = board.now();
  ASSERT_THAT(waits, SizeIs(2));
  EXPECT_EQ(waits[0].who, "w1");
  EXPECT_EQ(waits[0].for_whom, "g0");
  EXPECT_EQ(waits[0].until, "waits for round 7");
  EXPECT_EQ(waits[0].ms, 500U);
  EXPECT_EQ(waits[1].ms, 200U);
}

TEST(WaitBoard, AWaitThatIsRecordedAgainGoesOnAndOneForSomebodyElseIsNew) {
  ManualClock clock;
  WaitBoard board(clock);
  board.waits({ActorNumber{1}, "g0", "w5", {"one of two is in"}});
  clock.advance(std::chrono::milliseconds(300));
  board.waits({ActorNumber{1}, "g0", "w5", {"the same, said otherwise"}});
  ASSERT_THAT(board.now(), SizeIs(1));
  EXPECT_EQ(board.now()[0].ms, 300U);
  EXPECT_EQ(board.now()[0].until, "the same, said otherwise");
  board.waits({ActorNumber{1}, "g0", "w6", {"one of two is in"}});
  EXPECT_EQ(board.now()[0].ms, 0U);
  board.goes_on(ActorNumber{1}, "g0");
  EXPECT_THAT(board.now(), IsEmpty());
}

TEST(WaitBoard, ForgetsWhoHasEnded) {
  ManualClock clock;
  WaitBoard board(clock);
  board.waits({ActorNumber{1}, "w1", "g0", {"waits"}});
  board.forget("w2");
  EXPECT_THAT(board.now(), SizeIs(1));
  board.forget("w1");
  EXPECT_THAT(board.now(), IsEmpty());
}

TEST(WaitBoard, PassesEverythingOn) {
  struct Counting : MessageSink {
    int handles_ = 0, handled_ = 0, decided_ = 0;
    std::chrono::nanoseconds waited_{};
    std::string whom_;
    void handles(const Handles&) noexcept override { ++handles_; }
    void handled(const Handled&) noexcept override { ++handled_; }
    void decided(const Decided&) noexcept override { ++decided_; }
    void waited(const Waited& wait) noexcept override {
      waited_ = wait.took;
      whom_ = wait.for_whom;
    }
  };
  ManualClock clock;
  Counting next;
  WaitBoard board(clock, &next);
  const Stamp stamp;
  const rules::Reason reason{"because"};
  board.handles({ActorNumber{1}, "w1", stamp, {}, nullptr});
  board.handled({ActorNumber{1}, "w1", stamp, {}, {}});
  board.decided({ActorNumber{1}, "w1", {}, reason});
  board.waits({ActorNumber{1}, "w1", "g0", reason});
  clock.advance(std::chrono::milliseconds(7));
  board.goes_on(ActorNumber{1}, "w1");
  EXPECT_EQ(next.handles_, 1);
  EXPECT_EQ(next.handled_, 1);
  EXPECT_EQ(next.decided_, 1);
  EXPECT_EQ(next.waited_, std::chrono::milliseconds(7)) << "with how long it took";
  EXPECT_EQ(next.whom_, "g0");
}

}  // namespace
}  // namespace thalweg::actors
