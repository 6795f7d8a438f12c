#include "runtime/values/stamp.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <unordered_set>

namespace thalweg {
namespace {

TEST(MessageId, PacksNodeActorAndCounter) {
  const auto id = MessageId::make({3}, {17}, 912);
  EXPECT_EQ(id.bits, std::uint64_t{3} << 48 | std::uint64_t{17} << 36 | 912);
  EXPECT_EQ(id.node(), NodeNumber{3});
  EXPECT_EQ(id.actor(), ActorNumber{17});
  EXPECT_EQ(id.counter(), 912U);
  EXPECT_EQ(id.text(), "n3.a17.912");
}

TEST(MessageId, HoldsTheLargestOfEach) {
  const auto id = MessageId::make({0xffff}, {0xfff}, 0xf'ffff'ffff);
  EXPECT_EQ(id.bits, ~std::uint64_t{0});
  EXPECT_EQ(id.text(), "n65535.a4095.68719476735");
}

TEST(MessageId, NoPartSpillsIntoItsNeighbour) {
  const auto id = MessageId::make({1}, {0x1fff}, (std::uint64_t{1} << 36) + 5);
  EXPECT_EQ(id.node(), NodeNumber{1});
  EXPECT_EQ(id.actor(), ActorNumber{0xfff});
  EXPECT_EQ(id.counter(), 5U);
}

TEST(MessageId, OrdersOneActorsMessagesByCounter) {
  EXPECT_LT(MessageId::make({1}, {2}, 3), MessageId::make({1}, {2}, 4));
  EXPECT_LT(MessageId::make({1}, {2}, 4), MessageId::make({1}, {3}, 0));
  EXPECT_LT(MessageId::make({1}, {3}, 0), MessageId::make({2}, {0}, 0));
}

TEST(LogicalClock, RisesStrictlyWhileTheWallStandsStill) {
  LogicalClock clock;
  const std::uint64_t first = clock.tick(1000);
  EXPECT_EQ(first, std::uint64_t{1000} << 12);
  EXPECT_EQ(clock.tick(1000), first + 1);
  EXPECT_EQ(clock.tick(1000), first + 2);
}

TEST(LogicalClock, FollowsTheWallForwardAndNeverBack) {
  LogicalClock clock;
  const std::uint64_t before = clock.tick(5000);
  EXPECT_EQ(clock.tick(6000), std::uint64_t{6000} << 12);
  EXPECT_GT(clock.tick(10), std::uint64_t{6000} << 12);
  EXPECT_GT(clock.tick(10), before);
}

TEST(LogicalClock, StampsAnAnswerLaterThanItsQuestion) {
  LogicalClock ahead;
  LogicalClock behind;
  const std::uint64_t question = ahead.tick(9000);
  behind.observe(question);
  EXPECT_GT(behind.tick(1000), question);
  behind.observe(5);
  EXPECT_GT(behind.tick(1000), question) << "an old stamp sets nothing back";
}

TEST(MessageKind, EachHasANameOfItsOwn) {
  EXPECT_EQ(kind_name(MessageKind::contribution), "contribution");
  EXPECT_EQ(kind_name(static_cast<MessageKind>(60000)), "kind-60000");
  std::set<std::string> names;
  for (std::uint16_t number = 0; number < 100; ++number)
    names.insert(kind_name(static_cast<MessageKind>(number)));
  EXPECT_EQ(names.size(), 100U);
}

TEST(MemberId, SaysWhatItIs) {
  EXPECT_EQ(worker_id(3).text(), "w3");
  EXPECT_EQ(leader_id(0).text(), "g0");
  EXPECT_EQ(root_id().text(), "root");
  EXPECT_NE(worker_id(1), leader_id(1));
}

TEST(Id, CountsAndHashes) {
  EXPECT_EQ(Version{41}.next(), Version{42});
  EXPECT_LT(Version{41}, Version{42});
  const std::unordered_set<Version> seen{{1}, {2}, {1}};
  EXPECT_EQ(seen.size(), 2U);
}

}  // namespace
}  // namespace thalweg
