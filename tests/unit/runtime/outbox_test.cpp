#include "runtime/net/outbox.hpp"

#include <gtest/gtest.h>

namespace thalweg::net {
namespace {

/// What waits for one connection. Parcels are known by their stamp's id.
class OutboxTest : public ::testing::Test {
 protected:
  void push(std::uint64_t id, std::uint64_t to, bool newest_only) {
    Parcel parcel;
    parcel.stamp.id = {id};
    parcel.stamp.kind = MessageKind::parameters;
    parcel.to = to;
    parcel.body.assign(1, std::byte{1});
    parcel.newest_only = newest_only;
    ++traffic->parcels_waiting;
    outbox.push(std::move(parcel));
  }
  /// The parcel in front begins.
  std::uint64_t begin() {
    const auto piece = outbox.next();
    if (!piece) return 0;
    const auto frame = wire::decode(piece->header, {});
    return frame.ok() ? std::get<wire::ParcelHead>(frame->content).stamp.id.bits : 0;
  }
  /// All that waits goes out; which parcels, in their order.
  std::vector<std::uint64_t> sent() {
    std::vector<std::uint64_t> ids;
    while (const auto id = begin()) {
      ids.push_back(id);
      outbox.written();
    }
    return ids;
  }

  std::shared_ptr<Traffic> traffic = std::make_shared<Traffic>();
  Outbox outbox{{}, traffic};
};

using Ids = std::vector<std::uint64_t>;

TEST_F(OutboxTest, TheNewestTakesThePlaceOfThoseThatWait) {
  for (std::uint64_t id = 1; id <= 5; ++id) push(id, 7, true);
  EXPECT_EQ(traffic->parcels_waiting, 1U);
  EXPECT_EQ(sent(), Ids{5});
  EXPECT_EQ(traffic->parcels_waiting, 0U);
  EXPECT_EQ(traffic->parcels_dropped, 0U);
}

TEST_F(OutboxTest, WhatHasBegunIsSentWhole) {
  push(1, 7, true);
  ASSERT_EQ(begin(), 1U);
  push(2, 7, true);
  push(3, 7, true);
  EXPECT_EQ(traffic->parcels_waiting, 2U);
  outbox.written();
  EXPECT_EQ(sent(), Ids{3});
}

TEST_F(OutboxTest, ActorsTakeTurns) {
  push(1, 7, true);
  push(2, 8, true);
  push(3, 7, true);
  push(4, 8, true);
  EXPECT_EQ(sent(), (Ids{3, 4}));
}

TEST_F(OutboxTest, NothingIsOvertakenOnTheWayToTheSameActor) {
  push(1, 7, true);
  push(2, 7, false);
  push(3, 7, true);
  push(4, 8, false);
  push(5, 7, true);
  EXPECT_EQ(sent(), (Ids{1, 2, 5, 4}));
}

TEST_F(OutboxTest, OthersAreAllSent) {
  push(1, 7, false);
  push(2, 7, false);
  EXPECT_EQ(sent(), (Ids{1, 2}));
}

}  // namespace
}  // namespace thalweg::net
