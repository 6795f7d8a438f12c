#include "tests/process/small_job.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <string>

/// Ctrl-C and its kin, sent to real runs: nothing that was learnt is lost, and nobody has to wait who does
/// not want to.
namespace thalweg::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> endless = {"--epochs", "1000000"};

class StopTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string end_of(const std::string& out) const {
    const auto summary =
        nlohmann::json::parse(bytes_of(folder.path() / out / "summary.json"), nullptr, false);
    return summary.is_object() ? summary["end"].get<std::string>() : "no summary";
  }
  [[nodiscard]] bool has_checkpoint(const std::string& out) const {
    std::error_code none;
    const std::filesystem::directory_iterator checkpoints(folder.path() / out / "checkpoints", none);
    return !none && checkpoints != std::filesystem::directory_iterator();
  }

  TempFolder folder;
};

TEST_F(StopTest, CtrlCSavesAndEndsWith130) {
  Process process(small_job("out", endless), {.folder = folder.path()});
  ASSERT_TRUE(process.wait_for_err("epoch 1: test accuracy"));
  process.send(SIGINT);
  const Finished finished = process.wait();
  EXPECT_EQ(finished.exit_code, 130) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("stopping after this round; press again to end at once\n"));
  EXPECT_THAT(finished.out, HasSubstr("end            stopped\n"));
  EXPECT_EQ(end_of("out"), "stopped");
  EXPECT_TRUE(has_checkpoint("out"));
  const Finished evaluated = run_program({"eval", "out"}, {.folder = folder.path()});
  EXPECT_EQ(evaluated.exit_code, 0) << evaluated.err;
}

TEST_F(StopTest, SigtermSavesAndEndsWith143) {
  Process process(small_job("out", endless), {.folder = folder.path()});
  ASSERT_TRUE(process.wait_for_err("epoch 1: test accuracy"));
  process.send(SIGTERM);
  const Finished finished = process.wait();
  EXPECT_EQ(finished.exit_code, 143) << finished.err;
  EXPECT_EQ(end_of("out"), "stopped");
  EXPECT_TRUE(has_checkpoint("out"));
}

TEST_F(StopTest, ATerminalThatGoesAwaySavesAndEndsWith129) {
  Process process(small_job("out", endless), {.folder = folder.path()});
  ASSERT_TRUE(process.wait_for_err("epoch 1: test accuracy"));
  process.send(SIGHUP);
  const Finished finished = process.wait();
  EXPECT_EQ(finished.exit_code, 129) << finished.err;
  EXPECT_EQ(end_of("out"), "stopped");
  EXPECT_TRUE(has_checkpoint("out"));
}

TEST_F(StopTest, CtrlCRightAfterTheStartIsNotLost) {
  Process process(small_job("out", endless), {.folder = folder.path()});
  ASSERT_TRUE(process.wait_for_err("training mlp"));
  process.send(SIGINT);
  const Finished finished = process.wait();
  EXPECT_EQ(finished.exit_code, 130) << finished.err;
  EXPECT_EQ(end_of("out"), "stopped");
}

TEST_F(StopTest, TheSecondCtrlCEndsAtOnce) {
  // One round of this job takes seconds, so that the first Ctrl-C cannot be done before the second
  // comes.
  Process process({"train", "--data", "synthetic", "--model", "mlp", "--set", "model.hidden=[2048, 2048]",
                   "--set", "data.samples=8192", "--workers", "1", "--batch", "8192", "--out", "out"},
                  {.folder = folder.path()});
  ASSERT_TRUE(process.wait_for_err("training mlp"));
  process.send(SIGINT);
  ASSERT_TRUE(process.wait_for_err("press again to end at once"));
  process.send(SIGINT);
  const Finished finished = process.wait();
  EXPECT_FALSE(finished.timed_out);
  EXPECT_EQ(finished.exit_code, 130);
  EXPECT_EQ(finished.out, "") << "it did not wait for the round";
  EXPECT_EQ(end_of("out"), "no summary");
}

TEST_F(StopTest, AClosedStdoutFailsTheCommandButNotTheRun) {
  const Finished finished =
      run_program(small_job("out", {"--quiet"}), {.folder = folder.path(), .closed_stdout = true});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("thalweg: cannot write to stdout: Broken pipe"));
  EXPECT_EQ(end_of("out"), "done");
}

TEST_F(StopTest, AFolderInUseIsLeftAlone) {
  Process first(small_job("out", endless), {.folder = folder.path()});
  ASSERT_TRUE(first.wait_for_err("training mlp"));
  const Finished second = run_program(small_job("out"), {.folder = folder.path()});
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_EQ(second.out, "");
  EXPECT_EQ(second.err, "thalweg: out: in use by process " + std::to_string(first.pid()) +
                            ": wait for it, or choose another --out\n");
  first.send(SIGINT);
  EXPECT_EQ(first.wait().exit_code, 130);
  EXPECT_EQ(end_of("out"), "stopped");
}

}  // namespace
}  // namespace thalweg::testing
