#include "tests/support/integer_model.hpp"
#include "tests/support/temp_folder.hpp"

#include <thalweg/cluster.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

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

TEST(Cluster, GoesOnFromItsCheckpointToTheBytesOfAnUndisturbedRun) {
  const TempFolder folder;
  auto config = small_job(folder.path() / "whole", {0, {{2, {}}, {1, {}}}});
  config.train.epochs = 6;
  config.train.schedule = "cosine";
  config.checkpoint.every = 7;
  {
    auto whole = Cluster::start(config, {.model = large_model(), .on_event = {}});
    ASSERT_TRUE(whole && whole->wait());
  }
  config.run.out = folder.path() / "parts";
  config.stop.max_samples = 3 * 300 + 5 * 24;  // in the fourth epoch, at the end of a round
  Summary stopped;
  {
    auto first = Cluster::start(config, {.model = large_model(), .on_event = {}});
    ASSERT_TRUE(first) << first.error().text;
    const auto summary = first->wait();
    ASSERT_TRUE(summary) << summary.error().text;
    stopped = *summary;
  }
  ASSERT_EQ(stopped.commits, 44U);
  // As if it had been killed before its last words: the newest checkpoint is one from along the way.
  std::filesystem::remove(folder.path() / "parts" / "checkpoints" / "version-44.safetensors");

  std::optional<std::uint64_t> resumed_from;
  auto second = Cluster::resume(folder.path() / "parts", {{"stop.max_samples", "0", ""}},
                                {.model = large_model(), .on_event = [&](const RunEvent& event) {
                                   if (const auto* began = std::get_if<Started>(&event)) {
                                     resumed_from = began->resumed_from;
                                     EXPECT_THAT(began->not_restored, HasSubstr("compute time begin anew"));
                                   }
                                 }});
  ASSERT_TRUE(second) << second.error().text;
  const auto done = second->wait();
  ASSERT_TRUE(done) << done.error().text;
  ASSERT_TRUE(resumed_from.has_value());
  EXPECT_EQ(*resumed_from, 42U);
  EXPECT_EQ(done->end, "done");
  EXPECT_EQ(done->ended_by, "data");
  EXPECT_EQ(done->resumed_from, resumed_from);
  EXPECT_EQ(done->committed, 300U * 6);
  EXPECT_EQ(done->repeated, 0U);
  EXPECT_EQ(done->run, stopped.run);
  EXPECT_TRUE(bytes_of(folder.path() / "parts" / "model.safetensors") ==
              bytes_of(folder.path() / "whole" / "model.safetensors"));
}

TEST(Cluster, PutsABrokenCheckpointAsideAndTakesTheOneBefore) {
  const TempFolder folder;
  const auto out = folder.path() / "run";
  auto config = small_job(out, {2, {}});
  config.checkpoint.every = 5;
  {
    auto cluster = Cluster::start(config, {.model = large_model(), .on_event = {}});
    ASSERT_TRUE(cluster && cluster->wait());
  }
  const auto newest = out / "checkpoints" / "version-38.safetensors";
  ASSERT_TRUE(std::filesystem::exists(newest));
  auto bytes = bytes_of(newest);
  bytes[bytes.size() / 2] ^= 1;
  std::ofstream(newest, std::ios::binary) << bytes;
  std::string notes;
  std::optional<std::uint64_t> from;
  auto cluster = Cluster::resume(out, {}, {.model = large_model(), .on_event = [&](const RunEvent& event) {
                                             if (const auto* began = std::get_if<Started>(&event)) {
                                               notes = began->warning;
                                               from = began->resumed_from;
                                             }
                                           }});
  ASSERT_TRUE(cluster) << cluster.error().text;
  const auto summary = cluster->wait();
  ASSERT_TRUE(summary) << summary.error().text;
  EXPECT_THAT(
      notes,
      HasSubstr("version-38.safetensors: is no whole checkpoint: its contents do not have the checksum"));
  EXPECT_TRUE(std::filesystem::exists(newest.string() + ".unreadable"));
  ASSERT_TRUE(from.has_value());
  EXPECT_LT(*from, 38U);
  EXPECT_EQ(summary->committed, 600U);
}

TEST(Cluster, KeepsTheJobOfARunThatGoesOn) {
  const TempFolder folder;
  const auto refused = Cluster::resume(folder.path(), {{"train.lr", "0.1", "--lr"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_THAT(refused.error().text, HasSubstr("--lr 0.1: a resumed run keeps its job: only train.epochs"));
  EXPECT_EQ(Cluster::resume(folder.path() / "none").error().code, ErrorCode::not_found);
}

TEST(Cluster, EndsWhereTheJobSays) {
  const TempFolder folder;
  auto config = small_job(folder.path() / "samples", {2, {}});
  config.train.epochs = 1000;
  config.stop.max_samples = 333;
  auto cluster = Cluster::start(config, {.model = large_model(), .on_event = {}});
  ASSERT_TRUE(cluster) << cluster.error().text;
  auto summary = cluster->wait();
  ASSERT_TRUE(summary) << summary.error().text;
  EXPECT_EQ(summary->samples, 333U);
  EXPECT_EQ(summary->end, "done");
  EXPECT_EQ(summary->ended_by, "data");

  config.run.out = folder.path() / "time";
  config.train.epochs = 1'000'000;
  config.stop.max_samples = 0;
  config.stop.max_time = std::chrono::milliseconds(50);
  auto timed = Cluster::start(config, {.model = large_model(), .on_event = {}});
  ASSERT_TRUE(timed) << timed.error().text;
  summary = timed->wait();
  ASSERT_TRUE(summary) << summary.error().text;
  EXPECT_EQ(summary->end, "done");
  EXPECT_EQ(summary->ended_by, "max_time");
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
