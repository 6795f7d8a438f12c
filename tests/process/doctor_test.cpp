#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>
#include <string>

/// `thalweg doctor`. What it finds depends on the machine; that it looks at everything does not.
namespace thalweg::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::MatchesRegex;

TEST(Doctor, LooksAtEverythingAndShowsTheBounds) {
  const Finished finished = run_program({"doctor", "--json", "--silence", "4s"});
  const auto json = nlohmann::json::parse(finished.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << finished.out;
  std::set<std::string> checks;
  bool failed = false;
  for (const auto& one : json["checks"]) {
    checks.insert(one["check"]);
    failed = failed || one["level"] == "fail";
    EXPECT_THAT(one["level"].get<std::string>(), MatchesRegex("ok|warn|fail"));
  }
  EXPECT_THAT(checks, IsSupersetOf({"versions", "device", "name", "addresses", "ports", "clock", "files",
                                    "processes", "pid"}));
  EXPECT_EQ(finished.exit_code, failed ? 1 : 0);
  EXPECT_EQ(json["silence"]["tolerance_ms"], 4000);
  EXPECT_EQ(json["silence"]["heartbeat_ms"], 1000);
  EXPECT_EQ(json["silence"]["dead_after_ms"], 6000);
  EXPECT_EQ(json["schema"], 1);

  const Finished text = run_program({"doctor"});
  EXPECT_EQ(text.exit_code, finished.exit_code);
  EXPECT_THAT(text.out, HasSubstr("ok    versions   thalweg "));
  EXPECT_THAT(text.out, HasSubstr("\nWith net.silence = \"2s\":\n   500ms  a node says"));
}

TEST(Doctor, FailsWhenAskedAboutWhatIsNotThere) {
  const TempFolder folder;
  const Finished keys = run_program({"doctor", "--keys", "none"}, {.folder = folder.path()});
  EXPECT_EQ(keys.exit_code, 1);
  EXPECT_THAT(keys.out, HasSubstr("\nfail  keys       none: no such folder: make a node's keys with: "));
  EXPECT_THAT(keys.err, HasSubstr("thalweg: 1 of "));
  // Port 1 of loopback is nobody's.
  const Finished reach = run_program({"doctor", "127.0.0.1:1"});
  EXPECT_EQ(reach.exit_code, 1);
  EXPECT_THAT(reach.out, HasSubstr("\nfail  reach      127.0.0.1:1: Connection refused after "));
}

TEST(Doctor, ChecksKeysThatAreFine) {
  const TempFolder folder;
  const ProcessOptions here = {.folder = folder.path()};
  ASSERT_EQ(run_program({"keys", "init", "keys"}, here).exit_code, 0);
  ASSERT_EQ(run_program({"keys", "node", "n1"}, here).exit_code, 0);
  EXPECT_THAT(run_program({"doctor", "--keys", "keys/n1"}, here).out,
              HasSubstr("\nok    keys       keys/n1: n1, until "));
}

TEST(Doctor, WhatIsTypedWronglyIsExplained) {
  const Finished address = run_program({"doctor", "root"});
  EXPECT_EQ(address.exit_code, 2);
  EXPECT_EQ(address.err,
            "thalweg: \"root\" is no address: the port is missing; write HOST:PORT or [IPV6]:PORT\n");
  const Finished port = run_program({"doctor", "root:0"});
  EXPECT_EQ(port.exit_code, 2);
  EXPECT_EQ(port.err, "thalweg: root:0: nobody listens at port 0: give the node's port\n");
  for (const std::string silence : {"2", "soon", "1ms", "-1s"}) {
    const Finished finished = run_program({"doctor", "--silence=" + silence});
    EXPECT_EQ(finished.exit_code, 2) << silence;
    EXPECT_EQ(finished.err,
              "thalweg: --silence " + silence +
                  ": is no duration of 80 ms or more: give a number and ms, s, m or h, as 2s\n");
    EXPECT_EQ(finished.out, "");
  }
}

}  // namespace
}  // namespace thalweg::testing
