#include "tools/doctor/judge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace thalweg::doctor {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// A machine with which nothing is wrong.
Machine good_machine() {
  Machine machine;
  machine.system = "Linux 6.1";
  machine.libraries = {"CAF 0.17.6"};
  machine.devices.devices = {{"host", "A processor", "reference loops", 4, 8'000'000'000}};
  machine.devices.absent = {"cuda: this build has no CUDA device"};
  machine.host_name = "node-1";
  machine.host_addresses = std::vector<std::string>{"10.0.0.7"};
  machine.addresses = std::vector<net::LocalAddress>{{"lo", "127.0.0.1"}, {"eth0", "10.0.0.7"}};
  machine.time = std::chrono::sys_seconds(1'800'000'000s);
  machine.pid = 4242;
  return machine;
}

Finding finding(const Machine& machine, const std::string& check) {
  for (const Finding& one : judge_machine(machine)) {
    if (one.check == check) return one;
  }
  ADD_FAILURE() << "no check " << check;
  return {};
}

TEST(JudgeMachine, NothingIsWrongWithAGoodOne) {
  const std::vector<Finding> findings = judge_machine(good_machine());
  EXPECT_EQ(findings.size(), 10U);
  for (const Finding& one : findings) {
    EXPECT_EQ(one.level, Level::ok) << one.check << ": " << one.text;
    EXPECT_EQ(one.advice, "") << one.check;
    EXPECT_NE(one.text, "") << one.check;
  }
}

TEST(JudgeMachine, ANameThatOnlyMeansTheMachineItselfIsAWarning) {
  Machine machine = good_machine();
  machine.host_addresses = std::vector<std::string>{"127.0.1.1", "::1"};
  EXPECT_EQ(
      finding(machine, "name"),
      (Finding{Level::warn, "name", "node-1 is 127.0.1.1, ::1, by which another machine would reach itself",
               "put a line \"10.0.0.7 node-1\" first in /etc/hosts, or name that address in net.listen"}));
  machine.host_addresses = std::vector<std::string>{"127.0.1.1", "10.0.0.7"};
  EXPECT_EQ(finding(machine, "name").level, Level::ok);
  machine.host_addresses = Error{ErrorCode::not_found, "node-1: no address is known for it: no such name"};
  EXPECT_EQ(finding(machine, "name").level, Level::warn);
  EXPECT_THAT(finding(machine, "name").advice, HasSubstr("\"10.0.0.7 node-1\""));
}

TEST(JudgeMachine, AMachineWithoutANetworkCanServeItsOwnNodes) {
  Machine machine = good_machine();
  machine.host_addresses = std::vector<std::string>{"127.0.0.1"};
  machine.addresses = std::vector<net::LocalAddress>{{"lo", "127.0.0.1"}, {"lo", "::1", true}};
  EXPECT_EQ(finding(machine, "name").level, Level::ok);
  EXPECT_EQ(finding(machine, "addresses").level, Level::warn);
}

TEST(JudgeMachine, OneKindOfPortIsEnough) {
  Machine machine = good_machine();
  machine.listens_ipv6 = Error{ErrorCode::io, "cannot listen at [::]:0: Address family not supported"};
  EXPECT_EQ(finding(machine, "ports").level, Level::ok);
  EXPECT_THAT(finding(machine, "ports").text, HasSubstr("IPv4 only"));
  machine.listens_ipv4 = Error{ErrorCode::io, "cannot listen at 0.0.0.0:0: Operation not permitted"};
  EXPECT_EQ(finding(machine, "ports").level, Level::fail);
}

TEST(JudgeMachine, AClockThatNobodyKeepsRightIsAWarning) {
  Machine machine = good_machine();
  EXPECT_EQ(finding(machine, "clock").text, "2027-01-15 08:00:00 UTC, kept right by a time server");
  machine.clock_synchronized = Error{ErrorCode::failed, "no time server keeps it right"};
  EXPECT_EQ(finding(machine, "clock").level, Level::warn);
  machine.clock_synchronized = Error{ErrorCode::io, "Operation not permitted"};
  EXPECT_EQ(finding(machine, "clock").level, Level::ok);
}

TEST(JudgeMachine, LimitsThatALargeClusterReachesAreWarnings) {
  Machine machine = good_machine();
  EXPECT_EQ(finding(machine, "files").text, "no limit");
  machine.open_files = {256, 1'048'576};
  EXPECT_EQ(finding(machine, "files"),
            (Finding{Level::warn, "files", "at most 256 (can be raised to: 1,048,576)",
                     "run ulimit -n 1024 before a node of a large cluster starts"}));
  machine.open_files = {256, 256};
  EXPECT_THAT(finding(machine, "files").advice, HasSubstr("limits.conf"));
  machine.processes = {100, 100};
  EXPECT_EQ(finding(machine, "processes").level, Level::warn);
}

TEST(JudgeMachine, ProcessOneOfAContainerIsAWarning) {
  Machine machine = good_machine();
  machine.pid = 1;
  EXPECT_EQ(finding(machine, "pid").level, Level::ok) << "the machine's own first process";
  machine.own_pids = true;
  EXPECT_EQ(finding(machine, "pid").level, Level::warn);
  EXPECT_THAT(finding(machine, "pid").advice, HasSubstr("--pid=host"));
  machine.pid = 37;
  EXPECT_EQ(finding(machine, "pid").level, Level::ok);
  EXPECT_THAT(finding(machine, "pid").text, HasSubstr("this is 37"));
}

TEST(JudgeKeys, SaysWhoseTheyAreAndWhenTheyEnd) {
  const std::chrono::sys_seconds now(1'800'000'000s);
  net::KeysFacts facts;
  facts.node.emplace();
  facts.node->subject = "node-1";
  facts.node->valid_until = now + std::chrono::days(31);
  EXPECT_EQ(judge_keys("keys", facts, now),
            (std::vector<Finding>{{Level::ok, "keys", "keys: node-1, until 2027-02-15 08:00:00 UTC", ""}}));
  EXPECT_EQ(judge_keys("keys", facts, now + std::chrono::days(2))[0].level, Level::warn);
  const Error wrong = {ErrorCode::not_found, "keys/node.key: no such file: make one"};
  EXPECT_EQ(judge_keys("keys", wrong, now), (std::vector<Finding>{{Level::fail, "keys", wrong.text, ""}}));
}

TEST(JudgeReach, OneAddressThatAnswersIsEnough) {
  const std::vector<net::Attempt> attempts = {{{"fd00::1", 7000}, ENETUNREACH, 0ms},
                                              {{"10.0.0.1", 7000}, 0, 3ms}};
  EXPECT_EQ(judge_reach({"root", 7000}, attempts),
            (std::vector<Finding>{
                {Level::warn, "reach", "root:7000 at [fd00::1]:7000: Network is unreachable after 0 ms",
                 "check the address, and this machine's routes"},
                {Level::ok, "reach", "root:7000 at 10.0.0.1:7000: connected in 3 ms", ""}}));
}

TEST(JudgeReach, EachAddressThatFailsSaysWhy) {
  const std::vector<net::Attempt> attempts = {{{"10.0.0.1", 7000}, ECONNREFUSED, 1ms}};
  EXPECT_EQ(judge_reach({"10.0.0.1", 7000}, attempts),
            (std::vector<Finding>{{Level::fail, "reach", "10.0.0.1:7000: Connection refused after 1 ms",
                                   "nothing listens there: start the node, or check the port"}}));
  for (const int reason : {ETIMEDOUT, EHOSTUNREACH, EAFNOSUPPORT, EPERM, ECONNRESET}) {
    const std::vector<net::Attempt> one = {{{"10.0.0.1", 7000}, reason, 1ms}};
    EXPECT_NE(judge_reach({"10.0.0.1", 7000}, one)[0].advice, "") << reason;
  }
  const Error unknown = {ErrorCode::not_found, "root: no address is known for it: no such name"};
  EXPECT_EQ(judge_reach({"root", 7000}, unknown)[0].level, Level::fail);
}

TEST(Bounds, AreAllThatSilenceDerives) {
  const std::vector<Bound> bounds = bounds_of(Silence{8s});
  EXPECT_EQ(bounds.size(), 7U);
  EXPECT_EQ(bounds[0].name, "heartbeat");
  EXPECT_EQ(bounds[0].after, 2s);
}

}  // namespace
}  // namespace thalweg::doctor
