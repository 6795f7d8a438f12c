#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>
#include <string>

/// `thalweg bench` on settings too small to measure anything: that it works and what it prints, never a time.
namespace thalweg::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string last_line(const std::string& text) {
  const std::string lines = text.substr(0, text.find_last_not_of('\n') + 1);
  return lines.substr(lines.rfind('\n') + 1);
}

TEST(Bench, AllOfThemAsAJsonObject) {
  const TempFolder folder;
  const Finished finished = run_program({"bench", "--small", "--pairs", "1", "--json", "--out", "bench.json"},
                                        {.folder = folder.path()});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  const auto json = nlohmann::json::parse(last_line(finished.out), nullptr, false);
  ASSERT_TRUE(json.is_object()) << finished.out;
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["pairs"], 1);
  EXPECT_EQ(json["small"], true);
  EXPECT_GE(json["machine"]["cores"], 1);
  std::set<std::string> benches;
  for (const auto& comparison : json["comparisons"]) {
    benches.insert(comparison["bench"]);
    EXPECT_GT(comparison["floor"]["s"], 0) << comparison;
    EXPECT_GT(comparison["subject"]["s"], 0) << comparison;
    EXPECT_GT(comparison["reference"]["s"], 0) << comparison;
    EXPECT_GT(comparison["ratio"]["median"], 0) << comparison;
    EXPECT_TRUE(comparison["met"].is_boolean()) << comparison;
  }
  EXPECT_EQ(benches, (std::set<std::string>{"rounds", "turnaround", "sum", "messages", "net"}));
  EXPECT_EQ(bytes_of(folder.path() / "bench.json"), last_line(finished.out) + "\n");
}

TEST(Bench, OneOfThemAsTextWithTheFloorFirst) {
  const Finished finished = run_program({"bench", "messages", "--small", "--pairs", "1"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, StartsWith("messages: "));
  EXPECT_LT(finished.out.find("\n  floor "), finished.out.find("\n  ratio "));
  EXPECT_EQ(finished.err, "");
}

TEST(Bench, WhatIsTypedWronglyIsExplained) {
  const Finished name = run_program({"bench", "round"});
  EXPECT_EQ(name.exit_code, 2);
  EXPECT_EQ(name.err, "thalweg: round: unknown bench: did you mean rounds?\n");
  for (const std::string pairs : {"0", "-1", "ten", "1e3", "", "99999999999999999999"}) {
    const Finished finished = run_program({"bench", "sum", "--small", "--pairs=" + pairs});
    EXPECT_EQ(finished.exit_code, 2) << pairs;
    EXPECT_THAT(finished.err, HasSubstr("--pairs")) << pairs;
    EXPECT_EQ(finished.out, "") << pairs;
  }
  const Finished flag = run_program({"bench", "--pair", "2"});
  EXPECT_EQ(flag.exit_code, 2);
  EXPECT_THAT(flag.err, HasSubstr("did you mean --pairs?"));
}

TEST(Bench, APlaceWhereNoFileCanBeIsRefusedBeforeAnythingIsMeasured) {
  const TempFolder folder;
  const auto error_of = [&](const std::string& out) {
    const Finished finished = run_program({"bench", "messages", "--small", "--pairs", "1", "--out", out},
                                          {.folder = folder.path()});
    EXPECT_EQ(finished.exit_code, 2) << out;
    EXPECT_EQ(finished.out, "") << out;
    return finished.err;
  };
  EXPECT_THAT(error_of("none/b.json"), HasSubstr("--out 'none/b.json': its folder is not there"));
  EXPECT_THAT(error_of("."), HasSubstr("--out .: is there, and is no file"));
  EXPECT_THAT(error_of("/dev/null"), HasSubstr("--out /dev/null: is there, and is no file"));
  EXPECT_THAT(error_of(""), HasSubstr("--out '': its folder is not there"));
}

}  // namespace
}  // namespace thalweg::testing
