#pragma once

#include "runtime/net/asio_exchange.hpp"
#include "runtime/wire/frame.hpp"
#include "tests/support/raw_peer.hpp"
#include "tests/support/recording_listener.hpp"
#include "tests/support/same_stamp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

/// Nodes for tests of the exchange over TCP.
namespace thalweg::net {

constexpr PeerId one{{1}, {11}};
constexpr PeerId two{{2}, {22}};

inline wire::RunId run_of(int number) {
  wire::RunId run{};
  run[0] = static_cast<std::byte>(number);
  return run;
}

/// A node: an exchange on loopback, and what it was told.
struct Node {
  explicit Node(PeerId self, const std::function<void(AsioExchange::Options&)>& change = {}) {
    AsioExchange::Options options{.listen = {"127.0.0.1", 0},
                                  .run = run_of(7),
                                  .self = self,
                                  .payload_floats_max = 1 << 25,
                                  .listener = told};
    if (change) change(options);
    auto opened = AsioExchange::open(options);
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().text);
    exchange = std::move(*opened);
  }
  void dial(PeerId peer, const Node& other) { exchange->connect(peer, {other.exchange->local()}); }
  [[nodiscard]] AsioExchange::Counts counts() const {
    return dynamic_cast<const AsioExchange&>(*exchange).counts();
  }
  /// Waits until `counter` is not zero.
  [[nodiscard]] bool counted(std::uint64_t AsioExchange::Counts::*counter) const {
    return within(std::chrono::seconds(10), [&] { return counts().*counter > 0; });
  }

  RecordingListener told;
  std::unique_ptr<Exchange> exchange;
};

inline auto impatient(std::chrono::milliseconds silence) {
  return [silence](AsioExchange::Options& options) { options.silence = silence; };
}

inline Parcel numbered(std::uint64_t number, std::vector<Payload> payloads = {}) {
  Parcel parcel;
  parcel.stamp = {.id = {number},
                  .cause = {number + 1},
                  .hlc = number + 2,
                  .term = 3,
                  .incarnation = 4,
                  .kind = MessageKind::contribution};
  parcel.to = number;
  parcel.body.assign(static_cast<std::size_t>(number % 100), static_cast<std::byte>(number));
  parcel.payloads = std::move(payloads);
  return parcel;
}

inline void expect_same(const Parcel& got, const Parcel& sent) {
  expect_same(got.stamp, sent.stamp);
  EXPECT_EQ(got.to, sent.to);
  EXPECT_EQ(got.body, sent.body);
  ASSERT_EQ(got.payloads.size(), sent.payloads.size());
  for (std::size_t i = 0; i < sent.payloads.size(); ++i) {
    ASSERT_EQ(got.payloads[i] == nullptr, sent.payloads[i] == nullptr);
    if (sent.payloads[i]) {
      EXPECT_TRUE(std::ranges::equal(got.payloads[i]->host(), sent.payloads[i]->host()));
    }
  }
}

/// Two nodes with a connection that `first` dialled.
struct Linked {
  explicit Linked(const std::function<void(AsioExchange::Options&)>& change = {})
      : first(one, change), second(two, change) {
    first.dial(two, second);
    EXPECT_TRUE(first.told.wait_opened());
    EXPECT_TRUE(second.told.wait_opened());
  }
  Node first, second;
};

/// Parcels of every kind, both ways at once, over an exchange with `change`d options.
inline void exchange_parcels(const std::function<void(AsioExchange::Options&)>& change) {
  Linked linked(change);
  std::vector<Parcel> parcels;
  const Payload small = counting_payload(3, 0.5F);
  const Payload large = counting_payload(700'001);
  const Payload empty = counting_payload(0);
  for (std::uint64_t i = 1; i <= 60; ++i) {
    switch (i % 5) {
      case 0:
        parcels.push_back(numbered(i, {large, nullptr, small, large}));
        break;
      case 1:
        parcels.push_back(numbered(i, {nullptr}));
        break;
      case 2:
        parcels.push_back(numbered(i, {empty, small}));
        break;
      case 3:
        parcels.push_back(numbered(i, {nullptr, nullptr, nullptr, empty}));
        break;
      default:
        parcels.push_back(numbered(i));
    }
  }
  for (const Parcel& parcel : parcels) {
    linked.first.exchange->send(two, parcel);
    linked.second.exchange->send(one, parcel);
  }
  ASSERT_TRUE(linked.second.told.wait_arrived(parcels.size())) << linked.second.told.lost_none().message();
  ASSERT_TRUE(linked.first.told.wait_arrived(parcels.size())) << linked.first.told.lost_none().message();
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    EXPECT_EQ(linked.second.told.arrived_[i].first, one);
    expect_same(linked.second.told.arrived_[i].second, parcels[i]);
    expect_same(linked.first.told.arrived_[i].second, parcels[i]);
  }
  EXPECT_TRUE(within(std::chrono::seconds(10),
                     [&] { return linked.first.exchange->gauges(two).parcels_waiting == 0; }));
  EXPECT_EQ(linked.first.exchange->gauges(two).bytes_waiting, 0U);
  EXPECT_GT(linked.second.exchange->gauges(one).bytes_received, 60U * 128);
}

/// A payload that takes many chunks arrives as it was.
inline void carry_a_hundred_megabytes(Linked& linked) {
  const Payload payload = counting_payload(25'000'000);
  linked.first.exchange->send(two, numbered(1, {payload}));
  ASSERT_TRUE(linked.second.told.wait_arrived(1));
  EXPECT_TRUE(std::ranges::equal(linked.second.told.arrived_[0].second.payloads[0]->host(), payload->host()));
}

/// Both dial at once: one connection stays, and carries what each sends.
inline void dial_each_other(Node& first, Node& second) {
  first.dial(two, second);
  second.dial(one, first);
  ASSERT_TRUE(first.told.wait_opened());
  ASSERT_TRUE(second.told.wait_opened());
  first.exchange->send(two, numbered(1));
  second.exchange->send(one, numbered(2));
  ASSERT_TRUE(first.told.wait_arrived(1));
  ASSERT_TRUE(second.told.wait_arrived(1));
  EXPECT_TRUE(first.told.lost_none());
  EXPECT_TRUE(first.told.wait([](const auto& it) { return it.opened_.size() == 1; }));
  EXPECT_TRUE(second.told.lost_none());
  EXPECT_TRUE(second.told.wait([](const auto& it) { return it.opened_.size() == 1; }));
}

}  // namespace thalweg::net
