#include "tests/process/small_job.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <string>
#include <vector>

/// Methods side by side, by the real program on data that a small network learns at once.
namespace thalweg::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> small_comparison(const std::string& out, const std::string& methods,
                                          const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = small_job(out, {"--methods", methods});
  arguments[0] = "compare";
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

class CompareTest : public ::testing::Test {
 protected:
  [[nodiscard]] Finished compare(const std::vector<std::string>& arguments) const {
    return run_program(arguments, {.folder = folder.path()});
  }
  TempFolder folder;
};

TEST_F(CompareTest, TwoMethodsAndTwoSeeds) {
  const Finished finished = compare(small_comparison("out", "ssgd,asp", {"--seeds", "2"}));
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("Every finished run committed 4,096 samples."));
  EXPECT_THAT(finished.out, HasSubstr("2 of 2"));
  EXPECT_THAT(finished.out, Not(HasSubstr("emulated")));
  EXPECT_THAT(finished.err, HasSubstr("run 3 of 4: asp, seed 2\n"));
  for (const char* run : {"ssgd-seed1", "ssgd-seed2", "asp-seed1", "asp-seed2"}) {
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "out" / run / "summary.json")) << run;
  }
  EXPECT_THAT(bytes_of(folder.path() / "out/compare.csv"), HasSubstr("\nasp,asp,,2,done,"));
  EXPECT_THAT(bytes_of(folder.path() / "out/compare.html"), HasSubstr("</html>"));
  const auto json = nlohmann::json::parse(bytes_of(folder.path() / "out/compare.json"), nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["runs"].size(), 4U);
  EXPECT_EQ(json["runs"][0]["accuracy"]["value"].size(), 2U);
}

TEST_F(CompareTest, SettingsOfItsOwnAreOfOneMethodOnly) {
  const Finished finished = compare(small_comparison(
      "out", "ssgd,asp",
      {"--seeds", "1", "--with", "asp:train.lr=0.002,train.momentum=0", "--json", "--quiet"}));
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  const auto json = nlohmann::json::parse(finished.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << finished.out;
  EXPECT_EQ(json["methods"][2]["label"], "asp, equal settings");
  EXPECT_THAT(bytes_of(folder.path() / "out/asp-seed1/job.toml"), HasSubstr("\nlr = 0.002"));
  EXPECT_THAT(bytes_of(folder.path() / "out/asp-equal-seed1/job.toml"), HasSubstr("\nlr = 0.01"));
  EXPECT_THAT(bytes_of(folder.path() / "out/ssgd-seed1/job.toml"), HasSubstr("\nlr = 0.01"));
}

TEST_F(CompareTest, ARunThatDivergesIsShownAndTheRestGoesOn) {
  const Finished finished = compare(small_comparison(
      "out", "ssgd,asp", {"--seeds", "1", "--no-equal", "--with", "ssgd:train.lr=1e30", "--quiet"}));
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("0 of 1"));
  EXPECT_THAT(finished.out, HasSubstr("1 of 1"));
  EXPECT_THAT(finished.out, HasSubstr("ssgd: 1 diverged, left out of the means"));
}

TEST_F(CompareTest, CtrlCEndsAfterThePresentRun) {
  Process process(small_comparison("out", "ssgd,asp", {"--seeds", "2", "--epochs", "20"}),
                  {.folder = folder.path()});
  ASSERT_TRUE(process.wait_for_err("epoch 1"));
  process.send(SIGINT);
  const Finished finished = process.wait();
  EXPECT_EQ(finished.exit_code, 130) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("stopping after this run; press again to end at once\n"));
  EXPECT_THAT(finished.out, HasSubstr("Ended early: 1 of 4 runs were made."));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "out/compare.html"));
}

TEST_F(CompareTest, WhatIsTypedWrongIsSaidBeforeAnythingRuns) {
  const auto error = [&](const std::string& methods, const std::vector<std::string>& more = {}) {
    const Finished finished = compare(small_comparison("out", methods, more));
    EXPECT_EQ(finished.exit_code, 2) << methods;
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "out")) << methods;
    return finished.err;
  };
  EXPECT_EQ(error("ssgd,aspp"),
            "thalweg: --methods aspp: sync.method: 'aspp' is not known: did you mean asp?\n");
  EXPECT_EQ(error("asp,asp"), "thalweg: --methods: asp is named twice: name each once\n");
  EXPECT_EQ(error("ssgd,asp", {"--with", "aps:train.lr=1"}),
            "thalweg: --with aps: is not among the methods: did you mean asp?\n");
  EXPECT_THAT(error("ssgd", {"--with", "ssgd:train.lrr=1"}), HasSubstr("did you mean 'train.lr'?"));
  EXPECT_THAT(error("ssgd", {"--seeds", "none"}), HasSubstr("give a whole number from 1 to 1000"));
  EXPECT_THAT(error("ssgd", {"--target-accuracy", "90"}), HasSubstr("as 0.9"));
  EXPECT_THAT(error("ssgd", {"--set", "sync.method=asp"}), HasSubstr("the methods are named in --methods"));
}

TEST_F(CompareTest, AFolderInUseIsLeftAlone) {
  folder.write("file", "mine");
  const Finished finished = compare(small_comparison(".", "ssgd"));
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(finished.err, "thalweg: --out .: is no empty folder: choose another one, or remove it\n");
  EXPECT_EQ(bytes_of(folder.path() / "file"), "mine");
}

}  // namespace
}  // namespace thalweg::testing
