#include "tests/support/integer_model.hpp"
#include "tests/support/temp_folder.hpp"

#include <thalweg/cluster.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

/// The public Cluster with its real threads, streams and pool.
namespace thalweg {
namespace {

using ::testing::HasSubstr;

Config small_job(const std::filesystem::path& out, const TreeSpec& tree) {
  Config config;
  config.run.out = out;
  config.data.name = "synthetic";
  config.data.samples = 300;
  config.topology.tree = tree;
  config.train.batch = {8};
  config.train.epochs = 2;
  return config;
}

/// 1.2 MB of parameters: folds and steps leave the handlers for the pool.
ModelFactory large_model() {
  return [] {
    return Result<std::unique_ptr<Model>>(std::make_unique<testing::IntegerModel>(300'000, 784, 10));
  };
}

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Cluster, FoldsLargeModelsOnThePoolToTheSameBitsOnEveryTree) {
  const TempFolder folder;
  const std::vector<TreeSpec> trees{
      {4, {}}, {0, {{2, {}}, {2, {}}}}, {0, {{1, {}}, {0, {{2, {}}, {1, {}}}}}}};
  std::string expected;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const auto out = folder.path() / std::to_string(i);
    auto cluster = Cluster::start(small_job(out, trees[i]), {.model = large_model(), .on_event = {}});
    ASSERT_TRUE(cluster) << cluster.error().text;
    const auto summary = cluster->wait();
    ASSERT_TRUE(summary) << summary.error().text;
    EXPECT_EQ(summary->committed, 600U);
    const auto bytes = bytes_of(out / "model.safetensors");
    EXPECT_GT(bytes.size(), 1'200'000U);
    if (expected.empty()) expected = bytes;
    EXPECT_TRUE(bytes == expected) << trees[i].text();
  }
}

TEST(Cluster, KeepsTheModelWhenTheProgramsHandlerThrows) {
  const TempFolder folder;
  const auto out = folder.path() / "run";
  auto cluster =
      Cluster::start(small_job(out, {2, {}}), {.model = large_model(), .on_event = [](const RunEvent&) {
                                                 throw 42;  // not even a std::exception
                                               }});
  ASSERT_TRUE(cluster) << cluster.error().text;
  const auto summary = cluster->wait();
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().text, HasSubstr("event handler failed"));
  EXPECT_TRUE(std::filesystem::exists(out / "model.safetensors"));
  EXPECT_THAT(bytes_of(out / "summary.json"), HasSubstr(R"("end":"failed")"));
}

TEST(Cluster, EndsAsDivergedAndKeepsFiniteParametersWhenAStepOverflows) {
  const TempFolder folder;
  const auto out = folder.path() / "run";
  auto config = small_job(out, {2, {}});
  config.train.lr = 1e38;
  config.train.steps = 4;
  config.train.epochs = 1;
  auto cluster = Cluster::start(config, {.model = large_model(), .on_event = {}});
  ASSERT_TRUE(cluster) << cluster.error().text;
  const auto summary = cluster->wait();
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().code, ErrorCode::diverged);
  EXPECT_THAT(summary.error().text, HasSubstr("no longer a finite number"));
  EXPECT_TRUE(std::filesystem::exists(out / "model.safetensors"));
}

TEST(Cluster, StopsAtOnceAndTwiceAndWhenItIsDropped) {
  const TempFolder folder;
  auto config = small_job(folder.path() / "stopped", {0, {{2, {}}, {1, {}}}});
  config.train.epochs = 100'000;
  auto cluster = Cluster::start(config, {.model = large_model(), .on_event = {}});
  ASSERT_TRUE(cluster) << cluster.error().text;
  cluster->stop();
  cluster->stop();
  const auto summary = cluster->wait();
  ASSERT_TRUE(summary) << summary.error().text;
  EXPECT_EQ(summary->end, "stopped");
  EXPECT_GE(summary->commits, 1U);

  config.run.out = folder.path() / "dropped";
  {
    auto dropped = Cluster::start(config, {.model = large_model(), .on_event = {}});
    ASSERT_TRUE(dropped) << dropped.error().text;
  }
  EXPECT_THAT(bytes_of(folder.path() / "dropped" / "summary.json"), HasSubstr(R"("end":"stopped")"));
}

TEST(Cluster, RefusesATreeNodeWithBothWorkersAndLeaders) {
  const TempFolder folder;
  const auto refused = Cluster::start(small_job(folder.path() / "run", {1, {{1, {}}}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
}

TEST(Cluster, TurnsAModelFactoryThatThrowsIntoAnError) {
  const TempFolder folder;
  const auto refused = Cluster::start(
      small_job(folder.path() / "run", {1, {}}),
      {.model = []() -> Result<std::unique_ptr<Model>> { throw std::runtime_error("no weights here"); },
       .on_event = {}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text, "the model cannot be made: no weights here");
}

}  // namespace
}  // namespace thalweg
