#include "actors/rules/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace thalweg::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const TreeSpec two_groups{0, {{2, {}}, {2, {}}}};

std::vector<MemberId> members(const std::vector<Placement::Seat>& seats) {
  std::vector<MemberId> ids;
  for (const auto& seat : seats) ids.push_back(seat.member);
  return ids;
}

NodeNumber node(unsigned number) { return {static_cast<std::uint16_t>(number)}; }

Placement filled() {
  Placement placement(two_groups);
  for (unsigned i = 1; i <= 4; ++i) EXPECT_TRUE(placement.take(node(i), 1, {}).ok());
  placement.begin();
  return placement;
}

TEST(Placement, GivesSeatsInTreeOrder) {
  Placement placement(two_groups);
  const auto first = placement.take(node(1), 3, {});
  ASSERT_TRUE(first.ok());
  EXPECT_THAT(members(*first), ElementsAre(worker_id(0), worker_id(1), worker_id(2)));
  EXPECT_EQ(first->back().parent, leader_id(1));
  EXPECT_FALSE(placement.complete());
  const auto second = placement.take(node(2), 3, {});
  ASSERT_TRUE(second.ok());
  EXPECT_THAT(members(*second), ElementsAre(worker_id(3)));
  EXPECT_TRUE(placement.complete());
  const auto none = placement.take(node(3), 1, {});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::busy);
}

TEST(Placement, GivesSeatsOfAGroup) {
  Placement placement(two_groups);
  const auto seats = placement.take(node(1), 4, leader_id(1));
  ASSERT_TRUE(seats.ok());
  EXPECT_THAT(members(*seats), ElementsAre(worker_id(2), worker_id(3)));
  const auto nowhere = placement.take(node(2), 1, leader_id(7));
  ASSERT_FALSE(nowhere.ok());
  EXPECT_THAT(nowhere.error().text, HasSubstr("it has g0, g1"));
}

TEST(Placement, LeadersLiveWithTheirFirstWorker) {
  const auto placement = filled();
  EXPECT_EQ(placement.find(leader_id(0))->node, node(1));
  EXPECT_EQ(placement.find(leader_id(1))->node, node(3));
  EXPECT_EQ(placement.workers(), 4U);
}

TEST(Placement, LeadersOfLeadersToo) {
  Placement placement(TreeSpec{0, {{0, {{1, {}}, {2, {}}}}, {1, {}}}});
  ASSERT_TRUE(placement.take(node(1), 1, {}).ok());
  ASSERT_TRUE(placement.take(node(2), 3, {}).ok());
  placement.begin();
  EXPECT_EQ(placement.find(leader_id(0))->node, node(1));
  EXPECT_EQ(placement.find(leader_id(1))->node, node(1));
  EXPECT_EQ(placement.find(leader_id(2))->node, node(2));
  EXPECT_EQ(placement.find(leader_id(3))->node, node(2));
}

TEST(Placement, TheRootsNodeHostsTheFirst) {
  Placement placement(two_groups, 1);
  EXPECT_EQ(placement.free(), 3U);
  ASSERT_TRUE(placement.take(node(1), 3, {}).ok());
  placement.begin();
  EXPECT_EQ(placement.find(worker_id(0))->node, node(0));
  EXPECT_EQ(placement.find(leader_id(0))->node, node(0));
}

TEST(Placement, WhoLeavesBeforeTheRunFreesItsSeats) {
  Placement placement(two_groups);
  ASSERT_TRUE(placement.take(node(1), 2, {}).ok());
  const auto lost = placement.lose(node(1));
  EXPECT_THAT(lost.gone, ElementsAre(worker_id(0), worker_id(1)));
  EXPECT_THAT(lost.seats, IsEmpty());
  EXPECT_EQ(placement.free(), 4U);
  ASSERT_TRUE(placement.take(node(2), 4, {}).ok());
  EXPECT_TRUE(placement.complete());
}

TEST(Placement, WhoComesLaterHasANewNumberWhereTheFewestAre) {
  auto placement = filled();
  EXPECT_THAT(placement.lose(node(4)).gone, ElementsAre(worker_id(3)));
  const auto added = placement.add(node(9), {});
  ASSERT_TRUE(added.ok());
  ASSERT_EQ(added->size(), 1U);
  EXPECT_EQ(added->front().member, worker_id(4));
  EXPECT_EQ(added->front().parent, leader_id(1)) << "the root has no workers of its own here";
  EXPECT_EQ(placement.add(node(9), leader_id(0))->back().parent, leader_id(0));
  EXPECT_FALSE(placement.add(node(9), leader_id(5)).ok());
}

TEST(Placement, ALostLeadersWorkersBeginAnewBelowAnother) {
  auto placement = filled();
  const auto lost = placement.lose(node(1));
  EXPECT_THAT(lost.gone, ElementsAre(worker_id(0), leader_id(0), worker_id(1)));
  EXPECT_THAT(lost.seats, ElementsAre(Placement::Seat{leader_id(2), root_id(), node(2)},
                                      Placement::Seat{worker_id(4), leader_id(2), node(2)}));
  EXPECT_FALSE(placement.find(worker_id(1)));
  EXPECT_EQ(placement.workers(), 3U);
}

TEST(Placement, ShowsTheLeadersAboveANewcomer) {
  Placement placement(TreeSpec{0, {{0, {{1, {}}, {1, {}}}}}});
  for (unsigned i = 1; i <= 2; ++i) ASSERT_TRUE(placement.take(node(i), 1, {}).ok());
  placement.begin();
  const auto added = placement.add(node(9), leader_id(2));
  ASSERT_TRUE(added.ok());
  EXPECT_THAT(members(placement.above(*added)), ElementsAre(leader_id(0), leader_id(2)));
  EXPECT_THAT(placement.above(placement.seats()), IsEmpty());
}

TEST(Placement, AGroupThatIsGoneWholeIsNotReplaced) {
  Placement placement(two_groups);
  ASSERT_TRUE(placement.take(node(1), 2, {}).ok());
  ASSERT_TRUE(placement.take(node(2), 2, {}).ok());
  placement.begin();
  const auto lost = placement.lose(node(1));
  EXPECT_THAT(lost.gone, ElementsAre(worker_id(0), worker_id(1), leader_id(0)));
  EXPECT_THAT(lost.seats, IsEmpty());
  EXPECT_EQ(placement.workers(), 2U);
}

TEST(Placement, AGroupThatIsGoneWholeBeginsAnewWithWhoComes) {
  Placement placement(two_groups);
  ASSERT_TRUE(placement.take(node(1), 2, {}).ok());
  ASSERT_TRUE(placement.take(node(2), 2, {}).ok());
  placement.begin();
  (void)placement.lose(node(1));
  const auto back = placement.add(node(3), {});
  ASSERT_TRUE(back.ok());
  EXPECT_THAT(*back, ElementsAre(Placement::Seat{leader_id(2), root_id(), node(3)},
                                 Placement::Seat{worker_id(4), leader_id(2), node(3)}));
  const auto by_its_old_name = placement.add(node(3), leader_id(0));
  ASSERT_TRUE(by_its_old_name.ok());
  EXPECT_THAT(*by_its_old_name, ElementsAre(Placement::Seat{worker_id(5), leader_id(2), node(3)}));
}

TEST(Placement, WhenNobodyIsLeftTheTreeBeginsAnew) {
  Placement placement(TreeSpec{0, {{0, {{2, {}}}}}});
  ASSERT_TRUE(placement.take(node(1), 2, {}).ok());
  placement.begin();
  (void)placement.lose(node(1));
  EXPECT_THAT(placement.seats(), IsEmpty());
  const auto back = placement.add(node(2), {});
  ASSERT_TRUE(back.ok());
  EXPECT_THAT(*back, ElementsAre(Placement::Seat{leader_id(2), root_id(), node(2)},
                                 Placement::Seat{leader_id(3), leader_id(2), node(2)},
                                 Placement::Seat{worker_id(2), leader_id(3), node(2)}));
}

TEST(Placement, WhoAsksForALostLeadersGroupIsPutBelowItsHeir) {
  auto placement = filled();
  ASSERT_THAT(placement.lose(node(1)).seats.front().member, leader_id(2));
  const auto back = placement.add(node(5), leader_id(0));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->back().parent, leader_id(2));
}

TEST(Placement, ARunThatCannotBeginYetHasAllItsSeatsAgain) {
  auto placement = filled();
  (void)placement.lose(node(1));
  placement.begin_again();
  EXPECT_FALSE(placement.begun());
  EXPECT_EQ(placement.free(), 4U);
  const auto taken = placement.take(node(2), 4, {});
  ASSERT_TRUE(taken.ok());
  EXPECT_THAT(members(*taken), ElementsAre(worker_id(0), worker_id(1), worker_id(2), worker_id(3)));
}

TEST(Placement, ALostLeaderOfLeadersTakesItsTreeAlong) {
  Placement placement(TreeSpec{0, {{0, {{2, {}}, {1, {}}}}}});
  for (unsigned i = 1; i <= 3; ++i) ASSERT_TRUE(placement.take(node(i), 1, {}).ok());
  placement.begin();
  const auto lost = placement.lose(node(1));
  EXPECT_THAT(lost.gone, ElementsAre(worker_id(0), leader_id(0), leader_id(1), worker_id(1), leader_id(2),
                                     worker_id(2)));
  EXPECT_THAT(members(lost.seats),
              ElementsAre(leader_id(3), leader_id(4), worker_id(3), leader_id(5), worker_id(4)));
  EXPECT_EQ(placement.find(worker_id(4))->parent, leader_id(5));
  EXPECT_EQ(placement.find(leader_id(3))->node, node(2));
}

}  // namespace
}  // namespace thalweg::rules
