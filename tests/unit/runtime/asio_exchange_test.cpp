#include "tests/support/exchange_node.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace thalweg::net {
namespace {

using namespace std::chrono_literals;

TEST(AsioExchange, CarriesParcelsBothWaysInOrder) { exchange_parcels({}); }

TEST(AsioExchange, CarriesParcelsWithoutChecksums) {
  exchange_parcels([](AsioExchange::Options& options) { options.checksums = false; });
}

TEST(AsioExchange, CarriesParcelsInSmallChunks) {
  exchange_parcels([](AsioExchange::Options& options) { options.chunk_bytes = 4096; });
}

TEST(AsioExchange, AsksForChecksumsForBoth) {
  Node first(one, [](AsioExchange::Options& options) { options.checksums = false; });
  Node second(two);
  first.dial(two, second);
  ASSERT_TRUE(first.told.wait_opened());
  first.exchange->send(two, numbered(1, {counting_payload(100'000)}));
  EXPECT_TRUE(second.told.wait_arrived(1));
}

TEST(AsioExchange, CarriesAHundredMegabytes) {
  Linked linked;
  ASSERT_NO_FATAL_FAILURE(carry_a_hundred_megabytes(linked));
}

TEST(AsioExchange, KeepsOneConnectionWhenBothDial) {
  for (int i = 0; i < 20; ++i) {
    Node first(one);
    Node second(two);
    ASSERT_NO_FATAL_FAILURE(dial_each_other(first, second));
  }
}

TEST(AsioExchange, SaysWhichAddressesItTriedAndWhyTheyFailed) {
  Node first(one);
  Endpoint closed;
  {
    Node gone(two);
    closed = gone.exchange->local();
  }
  first.exchange->connect(two, {closed, {"name.invalid", 1}, {"::1", closed.port}});
  ASSERT_TRUE(first.told.wait_lost());
  const std::string& why = first.told.lost_[0].second;
  EXPECT_NE(why.find(closed.text() + ": Connection refused"), std::string::npos) << why;
  EXPECT_NE(why.find("name.invalid:1: "), std::string::npos) << why;
  EXPECT_NE(why.find("[::1]:"), std::string::npos) << why;
}

TEST(AsioExchange, TakesTheAddressThatAnswers) {
  Node first(one), wrong({{9}, {9}}), second(two);
  first.exchange->connect(two, {wrong.exchange->local(), {"localhost", second.exchange->local().port}});
  ASSERT_TRUE(first.told.wait_opened());
  EXPECT_EQ(first.told.opened_[0], two);
  EXPECT_TRUE(first.told.lost_none());
  EXPECT_TRUE(wrong.counted(&AsioExchange::Counts::wrong_peer));
}

TEST(AsioExchange, RefusesAnotherRun) {
  Node first(one), second(two, [](AsioExchange::Options&options) { options.run = run_of(8); });
  first.dial(two, second);
  ASSERT_TRUE(first.told.wait_lost());
  EXPECT_NE(first.told.lost_[0].second.find("another run"), std::string::npos) << first.told.lost_[0].second;
  EXPECT_TRUE(second.counted(&AsioExchange::Counts::wrong_run));
}

TEST(AsioExchange, RefusesAnotherIncarnation) {
  Node first(one), second(two);
  first.dial({two.node, {21}}, second);
  ASSERT_TRUE(first.told.wait_lost());
  EXPECT_TRUE(second.counted(&AsioExchange::Counts::wrong_peer));
}

TEST(AsioExchange, TakesNothingMoreFromAFencedIncarnation) {
  Linked linked;
  linked.first.exchange->fence(two);
  ASSERT_TRUE(linked.first.told.wait_lost());
  ASSERT_TRUE(linked.second.told.wait_lost());
  linked.second.dial(one, linked.first);
  ASSERT_TRUE(linked.second.told.wait_lost(2));
  EXPECT_EQ(linked.first.counts().fenced, 1U);
  linked.first.dial(two, linked.second);
  ASSERT_TRUE(linked.first.told.wait_lost(2));

  Node again({two.node, {23}});
  again.dial(one, linked.first);
  EXPECT_TRUE(again.told.wait_opened());
}

TEST(AsioExchange, CountsWhatIsSentWithoutAConnection) {
  Node first(one);
  first.exchange->send(two, numbered(1, {counting_payload(10)}));
  EXPECT_TRUE(first.counted(&AsioExchange::Counts::parcels_dropped));
  EXPECT_EQ(first.exchange->gauges(two).parcels_waiting, 0U);
  EXPECT_EQ(first.exchange->gauges(two).bytes_waiting, 0U);
}

TEST(AsioExchange, LosesAPeerThatEnds) {
  Linked linked;
  linked.second.exchange.reset();
  ASSERT_TRUE(linked.first.told.wait_lost());
  EXPECT_EQ(linked.first.told.lost_[0].first, two);
  EXPECT_NE(linked.first.told.lost_[0].second.find("goodbye"), std::string::npos)
      << linked.first.told.lost_[0].second;
  EXPECT_TRUE(linked.second.told.lost_none());
}

TEST(AsioExchange, FindsItsPeerAgain) {
  Linked linked;
  linked.second.exchange.reset();
  ASSERT_TRUE(linked.first.told.wait_lost());
  Node again(two);
  again.dial(one, linked.first);
  ASSERT_TRUE(again.told.wait_opened());
  ASSERT_TRUE(linked.first.told.wait_opened(2));
  again.exchange->send(one, numbered(1));
  EXPECT_TRUE(linked.first.told.wait_arrived(1));
}

TEST(AsioExchange, WaitsForMemory) {
  Linked linked(impatient(200ms));
  linked.second.told.no_memory(true);
  linked.first.exchange->send(two, numbered(1, {counting_payload(2'000'000)}));
  // Longer than silence: the receiver is alive, and says so.
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(linked.second.told.wait([began](const auto& it) {
    return it.landings_asked_ > 100 && std::chrono::steady_clock::now() - began > 500ms;
  }));
  EXPECT_TRUE(linked.first.told.lost_none());
  linked.second.told.no_memory(false);
  EXPECT_TRUE(linked.second.told.wait_arrived(1));
}

TEST(AsioExchange, WaitsForMemoryOnBothSidesAtOnce) {
  Linked linked(impatient(200ms));
  const Payload payload = counting_payload(2'000'000);
  for (Node* node : {&linked.first, &linked.second}) node->told.no_memory(true);
  for (int i = 0; i < 2; ++i) {
    linked.first.exchange->send(two, numbered(1, {payload}));
    linked.second.exchange->send(one, numbered(1, {payload}));
  }
  const auto began = std::chrono::steady_clock::now();
  for (Node* node : {&linked.first, &linked.second}) {
    ASSERT_TRUE(node->told.wait([began](const auto& it) {
      return it.landings_asked_ > 100 && std::chrono::steady_clock::now() - began > 500ms;
    }));
  }
  // One side goes on while the other still waits.
  linked.first.told.no_memory(false);
  const auto later = std::chrono::steady_clock::now();
  ASSERT_TRUE(linked.second.told.wait(
      [later](const auto&) { return std::chrono::steady_clock::now() - later > 300ms; }));
  linked.second.told.no_memory(false);
  EXPECT_TRUE(linked.first.told.wait_arrived(2));
  EXPECT_TRUE(linked.second.told.wait_arrived(2));
  EXPECT_TRUE(linked.first.told.lost_none());
  EXPECT_TRUE(linked.second.told.lost_none());
}

TEST(AsioExchange, HoldsNobodyUpForAPeerWithoutMemory) {
  Linked linked;
  Node third({{3}, {33}});
  linked.first.dial({{3}, {33}}, third);
  ASSERT_TRUE(third.told.wait_opened());
  ASSERT_TRUE(linked.first.told.wait_opened(2));
  linked.second.told.no_memory(true);
  linked.first.exchange->send(two, numbered(1, {counting_payload(8'000'000)}));
  ASSERT_TRUE(linked.second.told.wait([](const auto& it) { return it.landings_asked_ > 0; }));
  linked.first.exchange->send({{3}, {33}}, numbered(2, {counting_payload(8'000'000)}));
  EXPECT_TRUE(third.told.wait_arrived(1));
  EXPECT_TRUE(linked.second.told.wait([](const auto& it) { return it.arrived_.empty(); }));
  linked.second.told.no_memory(false);
  EXPECT_TRUE(linked.second.told.wait_arrived(1));
}

TEST(AsioExchange, EndsAmidTransfers) {
  Linked linked;
  for (int i = 0; i < 3; ++i) {
    linked.first.exchange->send(two, numbered(1, {counting_payload(8'000'000)}));
    linked.second.exchange->send(one, numbered(1, {counting_payload(8'000'000)}));
  }
  ASSERT_TRUE(linked.first.told.wait([](const auto& it) { return it.landings_asked_ > 0; }));
  linked.first.exchange.reset();
  const std::size_t arrived = linked.first.told.arrived_.size();
  EXPECT_TRUE(linked.second.told.wait_lost());
  EXPECT_EQ(linked.first.told.arrived_.size(), arrived);
  EXPECT_TRUE(linked.first.told.lost_none());
}

TEST(AsioExchange, GivesUpAnAddressWhereNobodyAnswers) {
  // Of a block that is kept for documents. Without a network it fails at once, which does as well.
  const Endpoint nowhere{"192.0.2.1", 9};
  Node first(one, impatient(100ms));
  first.exchange->connect(two, {nowhere});
  ASSERT_TRUE(first.told.wait_lost());
  EXPECT_NE(first.told.lost_[0].second.find("192.0.2.1:9: "), std::string::npos);
  Node patient(two);
  patient.exchange->connect(one, {nowhere});
  patient.exchange.reset();
  EXPECT_TRUE(patient.told.lost_none());
}

TEST(AsioExchange, ListensOnSixthVersionAddresses) {
  RecordingListener told;
  const auto opened =
      AsioExchange::open({.listen = {"::1", 0}, .run = run_of(7), .self = two, .listener = told});
  if (!opened.ok()) GTEST_SKIP() << "no IPv6 here: " << opened.error().text;
  Node first(one);
  first.exchange->connect(two, {(*opened)->local()});
  EXPECT_TRUE(first.told.wait_opened());
}

TEST(AsioExchange, SaysWhyItCannotListen) {
  RecordingListener told;
  const Node first(one);
  const auto open_at = [&](const Endpoint& at) {
    const auto opened = AsioExchange::open({.listen = at, .self = two, .listener = told});
    return opened.ok() ? "" : opened.error().text;
  };
  EXPECT_NE(open_at(first.exchange->local()).find("cannot listen at 127.0.0.1:"), std::string::npos);
  EXPECT_NE(open_at({"name.invalid", 0}).find("cannot listen at name.invalid:0: "), std::string::npos);
}

TEST(AsioExchange, TurnsAwayWhoeverTalksNonsense) {
  Node first(one);
  RawPeer nonsense(first.exchange->local());
  nonsense.write(std::vector<std::byte>(1000, std::byte{'x'}));
  EXPECT_TRUE(first.counted(&AsioExchange::Counts::corrupt));
  EXPECT_TRUE(nonsense.closed());

  RawPeer well_meaning(first.exchange->local());
  well_meaning.write_frame({{2}, {22}, wire::Credit{0}});
  EXPECT_TRUE(within(10s, [&] { return first.counts().corrupt == 2; }));

  Node second(two);
  second.dial(one, first);
  EXPECT_TRUE(second.told.wait_opened());
}

TEST(AsioExchange, TurnsAwayTheSilent) {
  Node first(one, impatient(100ms));
  RawPeer silent(first.exchange->local());
  EXPECT_TRUE(first.counted(&AsioExchange::Counts::silent));
  EXPECT_TRUE(silent.closed());
}

TEST(AsioExchange, MakesRoomForTheNewestStranger) {
  Node first(one, [](AsioExchange::Options& options) { options.strangers_max = 2; });
  RawPeer oldest(first.exchange->local()), middle(first.exchange->local()), newest(first.exchange->local());
  EXPECT_TRUE(first.counted(&AsioExchange::Counts::crowded));
  EXPECT_TRUE(oldest.closed());
  Node second(two);
  second.dial(one, first);
  EXPECT_TRUE(second.told.wait_opened());
}

/// A peer that is known to `node` and does what a test wants.
RawPeer greet(Node& node) {
  RawPeer peer(node.exchange->local());
  peer.write_frame(
      {two.node, two.incarnation, wire::Hello{run_of(7), one.node, one.incarnation, 0, 60'000, 0}});
  EXPECT_TRUE(std::holds_alternative<wire::Hello>(peer.read_frame().content));
  EXPECT_TRUE(node.told.wait_opened());
  return peer;
}

TEST(AsioExchange, LosesAPeerThatDiesAmidAPayload) {
  Node first(one);
  {
    RawPeer peer = greet(first);
    wire::ParcelHead head;
    head.payloads = 1;
    head.floats[0] = 1000;
    peer.write_frame({two.node, two.incarnation, head});
    peer.write_frame({two.node, two.incarnation, wire::ChunkHead{0, 0, 0, 4000, 0}});
    peer.write(std::vector<std::byte>(2000));
    ASSERT_TRUE(first.told.wait([](const auto& it) { return it.landings_asked_ == 1; }));
  }
  ASSERT_TRUE(first.told.wait_lost());
  EXPECT_TRUE(first.told.arrived_.empty());
}

TEST(AsioExchange, LosesAPeerThatStopsAmidAPayload) {
  Node first(one, impatient(100ms));
  RawPeer peer = greet(first);
  wire::ParcelHead head;
  head.payloads = 1;
  head.floats[0] = 1000;
  peer.write_frame({two.node, two.incarnation, head});
  ASSERT_TRUE(first.told.wait_lost());
  EXPECT_NE(first.told.lost_[0].second.find("stopped amid a transfer"), std::string::npos);
}

TEST(AsioExchange, LosesAPeerThatReadsNothingAndHoldsBackMeanwhile) {
  Node first(one, impatient(200ms));
  RawPeer peer = greet(first);
  first.exchange->send(two, numbered(1, {counting_payload(8'000'000)}));
  ASSERT_TRUE(first.told.wait_lost());
  EXPECT_NE(first.told.lost_[0].second.find("has read nothing"), std::string::npos)
      << first.told.lost_[0].second;
  EXPECT_LE(first.exchange->gauges(two).bytes_sent, (std::uint64_t{4} << 20) + 1000);
  EXPECT_TRUE(first.counted(&AsioExchange::Counts::parcels_dropped));
  EXPECT_TRUE(within(10s, [&] { return first.exchange->gauges(two).bytes_waiting == 0; }));
}

TEST(AsioExchange, DoesNotLoseAPeerThatReadsSlowly) {
  Node first(one, impatient(200ms));
  RawPeer peer = greet(first);
  first.exchange->send(two, numbered(1, {counting_payload(8'000'000)}));
  // A byte of progress now and then is enough; no transfer has a total time.
  const auto began = std::chrono::steady_clock::now();
  std::uint64_t read = 0;
  while (std::chrono::steady_clock::now() - began < 500ms) {
    read += peer.read_some(16);
    peer.write_frame({two.node, two.incarnation, wire::Credit{read}});
  }
  EXPECT_TRUE(first.told.lost_none());
}

TEST(AsioExchange, RefusesFramesThatMakeNoSense) {
  const auto lost_after = [](const std::function<void(RawPeer&)>& talk) {
    Node first(one);
    RawPeer peer = greet(first);
    talk(peer);
    EXPECT_TRUE(first.told.wait_lost());
    EXPECT_EQ(first.counts().corrupt, 1U);
    return first.told.lost_.empty() ? "" : first.told.lost_[0].second;
  };
  const auto with_payload = [](std::uint64_t floats) {
    wire::ParcelHead head;
    head.payloads = 1;
    head.floats[0] = floats;
    return head;
  };
  const auto frame = [](auto content) { return wire::Frame{two.node, two.incarnation, content}; };
  EXPECT_NE(lost_after([&](RawPeer& peer) { peer.write_frame(frame(wire::Credit{1})); }).find("not sent"),
            std::string::npos);
  EXPECT_NE(lost_after([&](RawPeer& peer) { peer.write_frame(frame(wire::Hello{})); }).find("second hello"),
            std::string::npos);
  EXPECT_NE(lost_after([&](RawPeer& peer) {
              peer.write_frame({{3}, {3}, wire::Credit{0}});
            }).find("another node"),
            std::string::npos);
  EXPECT_NE(lost_after([&](RawPeer& peer) {
              peer.write_frame(frame(wire::ChunkHead{0, 0, 0, 4, 0}));
            }).find("not begun"),
            std::string::npos);
  EXPECT_NE(
      lost_after([&](RawPeer& peer) { peer.write_frame(frame(with_payload(1 << 26))); }).find("at most"),
      std::string::npos);
  EXPECT_NE(lost_after([&](RawPeer& peer) {
              peer.write_frame(frame(with_payload(10)));
              peer.write_frame(frame(wire::ChunkHead{0, 0, 0, 44, 0}));
            }).find("past its payload's end"),
            std::string::npos);
  EXPECT_NE(lost_after([&](RawPeer& peer) {
              peer.write_frame(frame(with_payload(10)));
              peer.write_frame(frame(wire::ChunkHead{0, 4, 0, 4, 0}));
            }).find("out of order"),
            std::string::npos);
  EXPECT_NE(lost_after([&](RawPeer& peer) {
              peer.write_frame(frame(with_payload(10)));
              peer.write_frame(frame(with_payload(10)));
            }).find("before the last one is whole"),
            std::string::npos);
  EXPECT_NE(lost_after([&](RawPeer& peer) {
              peer.write_frame(frame(with_payload(1)));
              peer.write_frame(frame(wire::ChunkHead{0, 0, 0, 4, 12345}));
              peer.write(std::vector<std::byte>(4));
            }).find("checksum"),
            std::string::npos);
}

}  // namespace
}  // namespace thalweg::net
