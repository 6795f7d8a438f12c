#include "runtime/net/memory_exchange.hpp"

#include "tests/support/recording_listener.hpp"

#include <gtest/gtest.h>

namespace thalweg::net {
namespace {

constexpr PeerId one{{1}, {11}};
constexpr PeerId two{{2}, {22}};
constexpr PeerId three{{3}, {33}};

Parcel numbered(std::uint64_t number, std::vector<Payload> payloads = {}) {
  Parcel parcel;
  parcel.stamp.id = {number};
  parcel.to = number;
  parcel.body = {std::byte{1}, std::byte{2}};
  parcel.payloads = std::move(payloads);
  return parcel;
}

/// Two nodes with a connection between them, all of it told.
struct Pumped : testing::Test {
  Pumped() {
    first->connect(two, {});
    network.pump_all();
  }
  MemoryNetwork network{MemoryNetwork::Delivery::pumped};
  RecordingListener at_one, at_two;
  std::unique_ptr<Exchange> first = network.open(one, at_one);
  std::unique_ptr<Exchange> second = network.open(two, at_two);
};

TEST_F(Pumped, TellsBothSidesOfAConnection) {
  EXPECT_EQ(at_one.opened_, std::vector{two});
  EXPECT_EQ(at_two.opened_, std::vector{one});
  second->connect(one, {});
  EXPECT_EQ(network.pump_all(), 1U);
}

TEST_F(Pumped, HandsParcelsOverInOrderAndWithoutCopying) {
  const Payload payload = counting_payload(1000);
  for (std::uint64_t i = 1; i <= 100; ++i) first->send(two, numbered(i, {payload, nullptr}));
  EXPECT_EQ(first->gauges(two).parcels_waiting, 100U);
  EXPECT_EQ(first->gauges(two).bytes_waiting, 400'000U);
  EXPECT_TRUE(at_two.arrived_.empty());
  EXPECT_EQ(network.pump_all(), 100U);
  ASSERT_EQ(at_two.arrived_.size(), 100U);
  for (std::uint64_t i = 1; i <= 100; ++i) {
    const auto& [from, parcel] = at_two.arrived_[i - 1];
    EXPECT_EQ(from, one);
    EXPECT_EQ(parcel.to, i);
    EXPECT_EQ(parcel.body.size(), 2U);
    ASSERT_EQ(parcel.payloads.size(), 2U);
    EXPECT_EQ(parcel.payloads[0], payload);
    EXPECT_EQ(parcel.payloads[1], nullptr);
  }
  EXPECT_EQ(first->gauges(two).parcels_waiting, 0U);
  EXPECT_EQ(first->gauges(two).bytes_sent, 400'000U);
  EXPECT_EQ(second->gauges(one).bytes_received, 400'000U);
}

TEST_F(Pumped, DropsWhatIsSentWithoutAConnection) {
  first->send(three, numbered(1));
  EXPECT_EQ(network.pump_all(), 0U);
  first->connect(three, {});
  network.pump_all();
  ASSERT_EQ(at_one.lost_.size(), 1U);
  EXPECT_EQ(at_one.lost_[0].first, three);
}

TEST_F(Pumped, LosesWhatIsUnderWayWhenPartitioned) {
  first->send(two, numbered(1));
  network.partition({2}, {1}, true);
  network.pump_all();
  EXPECT_TRUE(at_two.arrived_.empty());
  ASSERT_EQ(at_one.lost_.size(), 1U);
  ASSERT_EQ(at_two.lost_.size(), 1U);
  EXPECT_EQ(at_one.lost_[0].second, "partitioned");
  EXPECT_EQ(first->gauges(two).parcels_waiting, 0U);
  second->connect(one, {});
  network.pump_all();
  EXPECT_EQ(at_two.lost_.size(), 2U);

  network.partition({1}, {2}, false);
  second->connect(one, {});
  network.pump_all();
  first->send(two, numbered(2));
  network.pump_all();
  ASSERT_EQ(at_two.arrived_.size(), 1U);
  EXPECT_EQ(at_two.arrived_[0].second.to, 2U);
}

TEST_F(Pumped, TakesNothingMoreFromAFencedIncarnation) {
  second->send(one, numbered(1));
  first->fence(two);
  network.pump_all();
  EXPECT_TRUE(at_one.arrived_.empty());
  EXPECT_EQ(at_one.lost_.size(), 1U);
  second->connect(one, {});
  network.pump_all();
  EXPECT_EQ(at_one.opened_.size(), 1U);
  EXPECT_EQ(at_two.lost_.size(), 2U);

  second.reset();
  const PeerId again{{2}, {23}};
  const auto restarted = network.open(again, at_two);
  restarted->connect(one, {});
  network.pump_all();
  EXPECT_EQ(at_one.opened_.back(), again);
}

TEST_F(Pumped, TellsPeersOfAnExchangeThatEnds) {
  second->send(one, numbered(1));
  second.reset();
  network.pump_all();
  EXPECT_TRUE(at_one.arrived_.empty());
  ASSERT_EQ(at_one.lost_.size(), 1U);
  EXPECT_TRUE(at_two.lost_.empty());
}

TEST(MemoryNetwork, DeliversOnAThreadOfItsOwn) {
  MemoryNetwork network(MemoryNetwork::Delivery::thread);
  RecordingListener at_one, at_two;
  const auto first = network.open(one, at_one);
  {
    const auto second = network.open(two, at_two);
    first->connect(two, {});
    ASSERT_TRUE(at_one.wait_opened());
    for (std::uint64_t i = 1; i <= 100; ++i) first->send(two, numbered(i));
    EXPECT_TRUE(at_two.wait_arrived(100));
  }
  EXPECT_TRUE(at_one.wait_lost());
}

}  // namespace
}  // namespace thalweg::net
