#include <thalweg/config.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

// Two keys that say the same thing in two ways: epochs and steps, a tree and the numbers it replaces. In one
// place they must agree; a flag counts more than the file.
namespace thalweg {
namespace {

class Alternatives : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(folder_);  // so that errors name "job.toml"
  }
  void TearDown() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }

  static Result<Config> load(const std::string& file, const std::vector<Override>& overrides) {
    std::ofstream("job.toml") << file;
    return load_config("job.toml", overrides);
  }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string("thalweg_alternatives_") + testing::UnitTest::GetInstance()->current_test_info()->name());
  std::filesystem::path before_;
};

std::string tree_or_error(const Result<Config>& config) {
  return config.ok() ? config->topology.tree.text() : config.error().text;
}

TEST_F(Alternatives, AFlagReplacesTheFilesLength) {
  const auto steps = load("[train]\nepochs = 5\n", {{"train.steps", "100", "--steps"}});
  ASSERT_TRUE(steps.ok()) << steps.error().text;
  EXPECT_EQ(steps->train.steps, 100U);
  const auto epochs = load("[train]\nsteps = 100\n", {{"train.epochs", "5", "--epochs"}});
  ASSERT_TRUE(epochs.ok()) << epochs.error().text;
  EXPECT_EQ(epochs->train.steps, 0U);
  EXPECT_EQ(epochs->train.epochs, 5U);
}

TEST_F(Alternatives, TwoLengthsInOnePlaceAreRefused) {
  const auto flags = load("", {{"train.steps", "100", "--steps"}, {"train.epochs", "5", "--epochs"}});
  ASSERT_FALSE(flags.ok());
  EXPECT_EQ(flags.error().text,
            "--epochs 5: train.epochs: train.steps is set too (--steps 100): keep one of the two");
  EXPECT_TRUE(load("[train]\nepochs = 2\nsteps = 0\n", {}).ok()) << "0 steps say nothing";
}

TEST_F(Alternatives, ATreeAmongTheFlagsReplacesTheFilesNumbers) {
  EXPECT_EQ(
      tree_or_error(load("[topology]\nworkers = 8\ngroups = 2\n", {{"topology.tree", "[1, 2]", "--set"}})),
      "[1, 2]");
}

TEST_F(Alternatives, NumbersAmongTheFlagsMustAgreeWithATree) {
  EXPECT_EQ(tree_or_error(load("[topology]\ntree = [2, 2]\n", {{"topology.workers", "4", "--workers"}})),
            "[2, 2]");
  EXPECT_EQ(tree_or_error(load("[topology]\ntree = [2, 2]\n", {{"topology.workers", "3", "--workers"}})),
            "--workers 3: topology.workers: the tree has 4 workers and workers = 3: keep one of the two");
  EXPECT_EQ(tree_or_error(load("[topology]\ntree = [2, 2]\n", {{"topology.groups", "3", "--groups"}})),
            "--groups 3: topology.groups: the tree has 2 groups and groups = 3: keep one of the two");
}

// `thalweg train RUN/job.toml --workers 8` trains a finished run's job once more, with more workers.
TEST_F(Alternatives, NumbersAmongTheFlagsReplaceThePrintedTree) {
  const std::string printed = print_config(*load("[topology]\nworkers = 5\ngroups = 2\n", {}));
  EXPECT_EQ(tree_or_error(load(printed, {})), "[3, 2]");
  EXPECT_EQ(tree_or_error(load(printed, {{"topology.workers", "8", "--workers"}})), "[4, 4]");
  EXPECT_EQ(tree_or_error(load(printed, {{"topology.groups", "0", "--groups"}})), "5");

  const std::string deeper = print_config(*load("[topology]\ntree = [[2], [2]]\n", {}));
  EXPECT_EQ(tree_or_error(load(deeper, {{"topology.workers", "8", "--workers"}})),
            "--workers 8: topology.workers: the tree has 4 workers and workers = 8: keep one of the two")
      << "numbers alone cannot say how many levels were meant";
}

TEST_F(Alternatives, TheLaterOfTwoFlagsCounts) {
  EXPECT_EQ(
      tree_or_error(load("", {{"topology.workers", "2", "--workers"}, {"topology.workers", "3", "--set"}})),
      "[3]");
}

TEST_F(Alternatives, TheErrorNamesWhoeverSpokeLast) {
  EXPECT_EQ(
      tree_or_error(load("[topology]\nworkers = 8\ngroups = 4\n", {{"topology.workers", "2", "--workers"}})),
      "--workers 2: topology.workers: 4 groups cannot share 2 workers: every group needs at least one");
  EXPECT_EQ(
      tree_or_error(load("[train]\nbatch = [1, 2]\n[topology]\nworkers = 2\n",
                         {{"topology.workers", "3", "--workers"}})),
      "--workers 3: topology.workers: 2 batch sizes for 3 workers: give one number for all, or one for each");
}

}  // namespace
}  // namespace thalweg
