#include "tests/process/small_job.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <string>

/// Real runs that are killed and gone on with. The long form, a hundred kills at random moments, is
/// tests/endure/kill_resume.
namespace thalweg::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class ResumeTest : public ::testing::Test {
 protected:
  Finished run(const std::vector<std::string>& arguments) {
    return run_program(arguments, {.folder = folder.path()});
  }
  [[nodiscard]] Json summary(const std::string& out) const {
    return Json::parse(bytes_of(folder.path() / out / "summary.json"), nullptr, false);
  }

  TempFolder folder;
  const std::vector<std::string> job = {
      "--epochs", "12", "--set", "checkpoint.every=20", "--set", "train.schedule=cosine", "--verbose"};
};

TEST_F(ResumeTest, KilledThreeTimesItEndsWithTheBytesOfAnUndisturbedRun) {
  ASSERT_EQ(run(small_job("whole", job)).exit_code, 0);
  auto arguments = small_job("killed", job);
  for (int kill = 0; kill < 3; ++kill) {
    Process process(arguments, {.folder = folder.path()});
    ASSERT_TRUE(process.wait_for_err("checkpoint of version")) << "kill " << kill;
    process.send(SIGKILL);
    EXPECT_EQ(process.wait().exit_code, 128 + SIGKILL);
    arguments = {"train", "--resume", "killed", "--verbose"};
  }
  const Finished finished = run(arguments);
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("going on from version "));
  EXPECT_THAT(finished.err, HasSubstr("not restored: counts of bytes, messages and compute time begin anew"));
  EXPECT_TRUE(bytes_of(folder.path() / "killed" / "model.safetensors") ==
              bytes_of(folder.path() / "whole" / "model.safetensors"));
  const Json whole = summary("whole");
  const Json killed = summary("killed");
  EXPECT_EQ(killed["ledger"], whole["ledger"]);
  EXPECT_EQ(killed["ledger"]["committed"], 12 * 2048);
  EXPECT_EQ(killed["ledger"]["repeated"], 0);
  EXPECT_EQ(killed["accuracy"], whole["accuracy"]);
  EXPECT_GE(killed["resumed_from"], 20);
}

TEST_F(ResumeTest, AFinishedRunGoesOnWhenItIsGivenMoreEpochs) {
  ASSERT_EQ(run(small_job("out", {"--epochs", "1"})).exit_code, 0);
  const std::string before = bytes_of(folder.path() / "out" / "summary.json");
  const Finished again = run({"train", "--resume", "out", "--quiet"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.err, "Nothing is left to train: the folder stays as it is.\n");
  EXPECT_EQ(bytes_of(folder.path() / "out" / "summary.json"), before);
  const Finished more = run({"train", "--resume", "out", "--epochs", "3"});
  EXPECT_EQ(more.exit_code, 0) << more.err;
  EXPECT_EQ(summary("out")["samples"], 3 * 2048);
  EXPECT_EQ(summary("out")["resumed_from"], 32);
  EXPECT_THAT(bytes_of(folder.path() / "out" / "job.toml"), HasSubstr("epochs = 3"));
}

TEST_F(ResumeTest, ARunThatIsGoingOnIsLeftAlone) {
  Process process(small_job("out", {"--epochs", "1000000"}), {.folder = folder.path()});
  ASSERT_TRUE(process.wait_for_err("training mlp"));
  const Finished second = run({"train", "--resume", "out"});
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_THAT(second.err, HasSubstr("out: in use by process " + std::to_string(process.pid())));
  process.send(SIGINT);
  EXPECT_EQ(process.wait().exit_code, 130);
}

TEST_F(ResumeTest, WhatMakesNoSenseIsRefused) {
  EXPECT_THAT(run({"train", "--resume", "none"}).err,
              HasSubstr("none: no such folder: give the run folder that thalweg train made"));
  EXPECT_EQ(run({"train", "--resume", ""}).exit_code, 2);
  EXPECT_THAT(run({"train", "job.toml", "--resume", "none"}).err,
              HasSubstr("job.toml: not expected beside --resume: the job is none/job.toml"));
  ASSERT_EQ(run(small_job("out", {"--epochs", "1"})).exit_code, 0);
  const Finished changed = run({"train", "--resume", "out", "--lr", "0.5"});
  EXPECT_EQ(changed.exit_code, 2);
  EXPECT_THAT(changed.err, HasSubstr("--lr 0.5: a resumed run keeps its job"));
  folder.write("out/job.toml", "[train\n");
  EXPECT_EQ(run({"train", "--resume", "out"}).exit_code, 2);
}

TEST_F(ResumeTest, CheckpointsThatDoNotFitOnTheDiskStopNothing) {
  // The model and its checkpoints are larger than any file may be; metrics and summary are not.
  const std::string limited = "ulimit -f 200; exec \"$THALWEG_PROGRAM\" \"$@\"";
  auto arguments = small_job(
      "out", {"--epochs", "1", "--set", "model.hidden=[128]", "--set", "checkpoint.every=5", "--verbose"});
  arguments.insert(arguments.begin(), {"-c", limited, "sh"});
  Process process(arguments, {.folder = folder.path(), .program = "/bin/sh"});
  const Finished finished = process.wait();
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("no checkpoint of version 5: cannot write out/checkpoints/version-5"));
  EXPECT_THAT(finished.err, HasSubstr("File too large: training goes on"));
  EXPECT_EQ(summary("out")["samples"], 2048) << "it trained to its end";
}

}  // namespace
}  // namespace thalweg::testing
