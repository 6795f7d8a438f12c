#include "tests/support/authority.hpp"
#include "tests/support/exchange_node.hpp"
#include "tests/support/temp_folder.hpp"

#include <gtest/gtest.h>

namespace thalweg::net {
namespace {

auto with(const Credentials& credentials) {
  return [credentials](AsioExchange::Options& options) { options.tls = credentials; };
}

struct TlsExchange : testing::Test {
  TempFolder folder, elsewhere;
  Authority authority{folder.path()};
  Credentials mine = authority.issue("node-1");
};

TEST_F(TlsExchange, CarriesParcelsBothWaysInOrder) { exchange_parcels(with(mine)); }

TEST_F(TlsExchange, CarriesAHundredMegabytes) {
  Linked linked(with(mine));
  ASSERT_NO_FATAL_FAILURE(carry_a_hundred_megabytes(linked));
  linked.second.exchange.reset();
  ASSERT_TRUE(linked.first.told.wait_lost());
  EXPECT_NE(linked.first.told.lost_[0].second.find("goodbye"), std::string::npos);
}

TEST_F(TlsExchange, TrustsNodesOfOneAuthority) {
  Node first(one, with(mine)), second(two, with(authority.issue("node-2")));
  first.dial(two, second);
  EXPECT_TRUE(first.told.wait_opened());
  EXPECT_TRUE(second.told.wait_opened());
}

TEST_F(TlsExchange, KeepsOneConnectionWhenBothDial) {
  for (int i = 0; i < 5; ++i) {
    Node first(one, with(mine)), second(two, with(mine));
    ASSERT_NO_FATAL_FAILURE(dial_each_other(first, second));
  }
}

TEST_F(TlsExchange, RefusesAStrangersCertificate) {
  const Authority stranger(elsewhere.path());
  Node first(one, with(mine)), second(two, with(stranger.issue("node-2")));
  second.dial(one, first);
  ASSERT_TRUE(second.told.wait_lost());
  EXPECT_NE(second.told.lost_[0].second.find("TLS"), std::string::npos) << second.told.lost_[0].second;
  EXPECT_TRUE(first.counted(&AsioExchange::Counts::handshake));

  // One that believes our authority, and that ours does not believe.
  Credentials half = stranger.issue("node-3");
  half.authority = mine.authority;
  Node third({{3}, {3}}, with(half));
  third.dial(one, first);
  ASSERT_TRUE(third.told.wait_lost());
  EXPECT_TRUE(within(std::chrono::seconds(10), [&] { return first.counts().handshake == 2; }));
  EXPECT_TRUE(first.told.opened_.empty());

  Node good(two, with(authority.issue("node-2")));
  good.dial(one, first);
  EXPECT_TRUE(good.told.wait_opened());
}

TEST_F(TlsExchange, RefusesWhoShowsNoCertificate) {
  Node first(one, with(mine));
  EXPECT_NE(refusal_without_certificate(first.exchange->local()), "");
  EXPECT_TRUE(first.counted(&AsioExchange::Counts::handshake));
}

TEST_F(TlsExchange, RefusesWhoSpeaksNoTls) {
  Node first(one, with(mine)), plain(two);
  plain.dial(one, first);
  ASSERT_TRUE(plain.told.wait_lost());
  EXPECT_TRUE(first.counted(&AsioExchange::Counts::handshake));

  first.dial(two, plain);
  ASSERT_TRUE(first.told.wait_lost());
  EXPECT_TRUE(plain.counted(&AsioExchange::Counts::corrupt));
}

TEST_F(TlsExchange, SaysWhichFileIsOfNoUse) {
  RecordingListener told;
  const auto open = [&](const Credentials& credentials) {
    const auto opened =
        AsioExchange::open({.listen = {"127.0.0.1", 0}, .tls = credentials, .self = one, .listener = told});
    return opened.ok() ? "" : opened.error().text;
  };
  EXPECT_EQ(open(mine), "");
  Credentials wrong = mine;
  wrong.key = folder.path() / "none.key";
  EXPECT_NE(open(wrong).find("none.key: cannot be used for TLS"), std::string::npos) << open(wrong);
  wrong.key = authority.issue("node-2").key;
  EXPECT_NE(open(wrong).find("mismatch"), std::string::npos) << open(wrong);
}

}  // namespace
}  // namespace thalweg::net
