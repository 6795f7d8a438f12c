#include "runtime/net/addresses.hpp"

#include "runtime/net/probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace thalweg::net {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Addresses, LoopbackIsAmongThoseOfEveryMachine) {
  const auto all = local_addresses();
  ASSERT_TRUE(all) << all.error().text;
  EXPECT_THAT(*all, Contains(::testing::Field(&LocalAddress::address, "127.0.0.1")));
  for (const LocalAddress& one : advertisable(*all)) EXPECT_FALSE(is_loopback(one.address)) << one.address;
}

TEST(Addresses, ThoseThatOthersMayReachComeBestFirst) {
  const std::vector<LocalAddress> all = {{"lo", "127.0.0.1"},
                                         {"docker0", "172.17.0.1"},
                                         {"eth0", "fe80::1", true},
                                         {"eth0", "fd00::7", true},
                                         {"eth0", "10.0.0.7"},
                                         {"eth1", "169.254.3.4"},
                                         {"eth2", "10.1.0.7", false, false},
                                         {"eth3", "10.2.0.7"},
                                         {"lo", "::1", true}};
  const std::vector<LocalAddress> some = advertisable(all);
  EXPECT_THAT(some, ElementsAre(all[4], all[7], all[3], all[1]));
}

TEST(Addresses, LoopbackIsMoreThanOneAddress) {
  EXPECT_TRUE(is_loopback("127.0.1.1"));
  EXPECT_TRUE(is_loopback("::1"));
  EXPECT_FALSE(is_loopback("10.0.0.7"));
  EXPECT_FALSE(is_loopback("1270::1"));
}

TEST(Addresses, AnAddressStandsForItself) {
  EXPECT_THAT(*resolve("127.0.0.1"), ElementsAre("127.0.0.1"));
  EXPECT_THAT(*resolve("::1"), ElementsAre("::1"));
  EXPECT_THAT(*resolve("localhost"), Contains("127.0.0.1"));
}

TEST(Addresses, ANameThatIsNoneSaysSo) {
  const auto none = resolve("no name has spaces");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  EXPECT_THAT(none.error().text, HasSubstr("no name has spaces: no address is known for it: "));
}

/// A port of loopback that is listened at, and taken by nobody else.
class Listener {
 public:
  Listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    const bool ready =
        ::bind(fd_, generic, size) == 0 && ::listen(fd_, 1) == 0 && ::getsockname(fd_, generic, &size) == 0;
    EXPECT_TRUE(ready);
    port_ = ntohs(address.sin_port);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { ::close(fd_); }

  [[nodiscard]] Endpoint endpoint() const { return {"127.0.0.1", port_}; }

 private:
  int fd_;
  std::uint16_t port_ = 0;
};

TEST(Probe, ConnectsToWhoListens) {
  const Listener listener;
  const auto attempts = try_each_address(listener.endpoint(), 2s);
  ASSERT_TRUE(attempts) << attempts.error().text;
  ASSERT_EQ(attempts->size(), 1U);
  EXPECT_TRUE((*attempts)[0].connected());
  EXPECT_EQ((*attempts)[0].address, listener.endpoint());
}

TEST(Probe, SaysThatNobodyListens) {
  Endpoint gone;
  { gone = Listener().endpoint(); }
  const auto attempts = try_each_address(gone, 2s);
  ASSERT_TRUE(attempts) << attempts.error().text;
  EXPECT_EQ((*attempts)[0].reason, ECONNREFUSED);
}

TEST(Probe, APortThatIsTakenCannotBeListenedAt) {
  const Listener listener;
  const auto taken = try_to_listen(listener.endpoint());
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().text,
            "cannot listen at " + listener.endpoint().text() + ": Address already in use");
  const auto any = try_to_listen({"127.0.0.1", 0});
  ASSERT_TRUE(any) << any.error().text;
  EXPECT_GT(*any, 0);
  EXPECT_FALSE(try_to_listen({"a name", 0}));
}

}  // namespace
}  // namespace thalweg::net
