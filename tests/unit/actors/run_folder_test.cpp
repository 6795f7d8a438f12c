#include "actors/run_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <sys/resource.h>
#include <unistd.h>

/// Real files in a temporary folder: what the folder refuses, what it writes, and what is left when the disk
/// takes no more.
namespace thalweg::actors {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;

std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

/// Files longer than `bytes` cannot be written while it lives: a full disk without filling one.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FullDisk() { setrlimit(RLIMIT_FSIZE, &before_); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
};

class RunFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::signal(SIGXFSZ, SIG_IGN);  // the limit of FullDisk then shows as a failed write
    std::string name = (fs::temp_directory_path() / "thalweg-run-folder-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root = name;
    before = fs::current_path();
    fs::current_path(root);
    config.run.out = "out";
  }
  void TearDown() override {
    fs::current_path(before);
    fs::remove_all(root);
  }

  RunFolder make() {
    Result<RunFolder> folder = RunFolder::create(config, "00ff");
    EXPECT_TRUE(folder.ok()) << folder.error().text;
    return std::move(folder).value();
  }
  Error refused() {
    Result<RunFolder> folder = RunFolder::create(config, "00ff");
    EXPECT_FALSE(folder.ok());
    return folder.ok() ? Error{} : folder.error();
  }

  fs::path root, before;
  Config config;
};

TEST_F(RunFolderTest, HoldsJobIdentityAndTableFromTheStart) {
  const RunFolder folder = make();
  EXPECT_EQ(folder.path(), "out");
  EXPECT_EQ(read_file("out/job.toml"), print_config(config));
  EXPECT_EQ(read_file("out/lock"), std::to_string(getpid()) + "\n");
  const std::string identity = read_file("out/root.json");
  EXPECT_THAT(identity, HasSubstr("\"run\": \"00ff\""));
  EXPECT_THAT(identity, HasSubstr("\"pid\": " + std::to_string(getpid())));
  EXPECT_THAT(identity, testing::ContainsRegex("\"started\": \"20[0-9-]+T[0-9:]+Z\""));
  EXPECT_EQ(read_file("out/metrics.csv"),
            "wall_s,epoch,samples,version,loss,accuracy,samples_per_s,staleness,bytes_up,bytes_down\n");
}

TEST_F(RunFolderTest, MakesFoldersInFolders) {
  config.run.out = "a/b/c";
  EXPECT_EQ(make().path(), "a/b/c");
}

TEST_F(RunFolderTest, DefaultNamesCountUpAndAGivenNameDoesNot) {
  config.run.out.clear();
  config.model.name = "mlp";
  fs::create_directories("runs/mlp-2");
  EXPECT_EQ(make().path(), "runs/mlp-1");
  EXPECT_EQ(make().path(), "runs/mlp-3");
  config.run.name = "first";
  EXPECT_EQ(make().path(), "runs/first");
  EXPECT_EQ(refused().text, "runs/first: holds an earlier run: choose another --out, or remove it");
}

TEST_F(RunFolderTest, ALockedFolderIsBusyAndNamesTheProcess) {
  const RunFolder folder = make();
  const Error error = refused();
  EXPECT_EQ(error.code, ErrorCode::busy);
  EXPECT_EQ(error.text,
            "out: in use by process " + std::to_string(getpid()) + ": wait for it, or choose another --out");
}

TEST_F(RunFolderTest, AnEarlierRunIsRefusedAndNothingOfItIsTouched) {
  { const RunFolder folder = make(); }
  write_file("out/metrics.csv", "mine");
  const Error error = refused();
  EXPECT_EQ(error.code, ErrorCode::invalid);
  EXPECT_EQ(error.text, "out: holds an earlier run: choose another --out, or remove it");
  EXPECT_EQ(read_file("out/metrics.csv"), "mine");
}

TEST_F(RunFolderTest, SomethingElseIsRefusedAndStaysAsItWas) {
  fs::create_directory("out");
  write_file("out/thesis.tex", "mine");
  EXPECT_EQ(refused().text, "out: is no run folder, it holds thesis.tex: choose another --out, or remove it");
  EXPECT_FALSE(fs::exists("out/lock"));
  config.run.out = "out/thesis.tex";
  EXPECT_EQ(refused().text, "out/thesis.tex: is a file: choose another --out, or remove it");
  EXPECT_EQ(read_file("out/thesis.tex"), "mine");
}

TEST_F(RunFolderTest, AnEmptyFolderAndOneWithOnlyAStaleLockAreFree) {
  fs::create_directory("out");
  write_file("out/lock", "123456789 left by a process that is gone");
  EXPECT_EQ(make().path(), "out");
  EXPECT_EQ(read_file("out/lock"), std::to_string(getpid()) + "\n");
}

TEST_F(RunFolderTest, WhatIsPutIntoAPreparedFolderBeforeTheRunIsNotInItsWay) {
  config.run.out.clear();
  const auto folder = RunFolder::prepare(config);
  ASSERT_TRUE(folder) << folder.error().text;
  EXPECT_EQ(*folder, "runs/lenet5-1");
  fs::create_directories(*folder / "keys" / "local");
  fs::create_directory(*folder / "log");
  config.run.out = folder->string();
  {
    const RunFolder run = make();
    EXPECT_EQ(run.path(), *folder);
  }
  EXPECT_TRUE(fs::exists(*folder / "keys" / "local"));
  const auto again = RunFolder::prepare(config);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().text, HasSubstr("runs/lenet5-1: holds an earlier run"));
}

TEST_F(RunFolderTest, AFolderThatCannotBeMadeIsAnIoErrorWithTheReason) {
  write_file("file", "");
  config.run.out = "file/out";
  const Error error = refused();
  EXPECT_EQ(error.code, ErrorCode::io);
  EXPECT_THAT(error.text, HasSubstr("cannot make the run folder file/out: Not a directory"));
}

TEST_F(RunFolderTest, RowsHaveTheColumnsOfTheHeaderAndAreThereAtOnce) {
  RunFolder folder = make();
  Progressed progressed;
  progressed.wall_s = 1.5;
  progressed.epoch = 0.25;
  progressed.samples = 1024;
  progressed.version = 16;
  progressed.loss = 2.25;
  progressed.samples_per_s = 682.7;
  progressed.staleness = 0.5;
  progressed.bytes_up = 4096;
  progressed.bytes_down = 8192;
  ASSERT_TRUE(folder.add_metrics(progressed, nullptr));
  EXPECT_THAT(read_file("out/metrics.csv"),
              EndsWith("bytes_down\n1.500,0.2500,1024,16,2.25,,682.7,0.500,4096,8192\n"));
  Evaluated evaluated;
  evaluated.accuracy = 0.875;
  ASSERT_TRUE(folder.add_metrics(progressed, &evaluated));
  EXPECT_THAT(read_file("out/metrics.csv"),
              EndsWith("\n1.500,0.2500,1024,16,2.25,0.875000,682.7,0.500,4096,8192\n"));
}

TEST_F(RunFolderTest, EqualWeightsMakeEqualBytesInAnyRun) {
  const std::vector<float> values = {1, 2, 3, 4};
  const std::vector<models::NamedTensor> tensors = {{"fc.weight", {2, 2}, values}};
  {
    RunFolder folder = make();
    ASSERT_TRUE(folder.save_model(tensors));
    ASSERT_TRUE(folder.save_checkpoint(7, {tensors, {{"samples", "64"}}}, 3));
  }
  config.run.out = "other";
  Result<RunFolder> other = RunFolder::create(config, "another id");
  ASSERT_TRUE(other.ok());
  ASSERT_TRUE(other->save_model(tensors));
  EXPECT_EQ(read_file("out/model.safetensors"), read_file("other/model.safetensors"));
  EXPECT_GT(fs::file_size("out/checkpoints/version-7.safetensors"), fs::file_size("out/model.safetensors"));
}

std::vector<std::string> names_of(const std::vector<fs::path>& files) {
  std::vector<std::string> names;
  for (const auto& file : files) names.push_back(file.filename().string());
  return names;
}

TEST_F(RunFolderTest, KeepsTheNewestCheckpointsAndNothingButThose) {
  const std::vector<float> values = {1, 2};
  const std::vector<models::NamedTensor> tensors = {{"w", {2}, values}};
  RunFolder folder = make();
  EXPECT_TRUE(folder.checkpoints()->empty());
  ASSERT_TRUE(folder.save_best({tensors, {}}));
  for (const std::uint64_t version : {9U, 10U, 100U, 101U}) {
    ASSERT_TRUE(folder.save_checkpoint(version, {tensors, {}}, 2));
  }
  write_file("out/checkpoints/version-.safetensors", "");
  write_file("out/checkpoints/version-7x.safetensors", "");
  EXPECT_THAT(names_of(*folder.checkpoints()),
              testing::ElementsAre("version-101.safetensors", "version-100.safetensors"));
  EXPECT_FALSE(fs::exists("out/checkpoints/version-10.safetensors"));
  EXPECT_TRUE(fs::exists("out/checkpoints/best.safetensors"));
}

TEST_F(RunFolderTest, AFullDiskLosesNoEarlierCheckpoint) {
  const std::vector<float> values(1000, 0.5F);
  const std::vector<models::NamedTensor> tensors = {{"w", {1000}, values}};
  RunFolder folder = make();
  ASSERT_TRUE(folder.save_checkpoint(1, {tensors, {}}, 1));
  {
    const FullDisk full(2000);
    const Status written = folder.save_checkpoint(2, {tensors, {}}, 1);
    ASSERT_FALSE(written);
    EXPECT_THAT(written.error().text, HasSubstr("version-2.safetensors: File too large"));
  }
  EXPECT_THAT(names_of(*folder.checkpoints()), testing::ElementsAre("version-1.safetensors"));
  EXPECT_FALSE(fs::exists("out/checkpoints/version-2.safetensors.partial"));
  ASSERT_TRUE(folder.save_checkpoint(3, {tensors, {}}, 1));
  EXPECT_THAT(names_of(*folder.checkpoints()), testing::ElementsAre("version-3.safetensors"));
}

Progressed row_of(std::uint64_t version, double wall_s) {
  Progressed progressed;
  progressed.version = version;
  progressed.wall_s = wall_s;
  return progressed;
}

TEST_F(RunFolderTest, IsReopenedWithItsIdAndTheRowsUpToTheVersionItGoesOnFrom) {
  {
    RunFolder folder = make();
    ASSERT_TRUE(folder.add_metrics(row_of(10, 1.5), nullptr));
    ASSERT_TRUE(folder.add_metrics(row_of(20, 2.5), nullptr));
    ASSERT_TRUE(folder.add_metrics(row_of(30, 3.5), nullptr));
  }
  std::ofstream("out/metrics.csv", std::ios::app) << "4.5,0.1,12";  // the process died in the middle of a row
  fs::create_directory("out/checkpoints");
  write_file("out/checkpoints/version-30.safetensors.partial", "half");
  write_file("out/summary.json", "{}");
  config.stop.max_samples = 64;
  Result<RunFolder> folder = RunFolder::reopen("out");
  ASSERT_TRUE(folder) << folder.error().text;
  EXPECT_EQ(folder->run_id(), "00ff");
  EXPECT_THAT(read_file("out/job.toml"), HasSubstr("max_samples = 0")) << "reopening changes nothing";
  ASSERT_TRUE(folder->go_on(config, folder->run_id(), 20));
  ASSERT_TRUE(folder->add_metrics(row_of(21, 0.25), nullptr));
  EXPECT_THAT(read_file("out/metrics.csv"),
              EndsWith("bytes_down\n1.500,0.0000,0,10,0,,0.0,0.000,0,0\n2.500,0.0000,0,20,0,,0.0,0.000,0,0\n"
                       "2.750,0.0000,0,21,0,,0.0,0.000,0,0\n"));
  EXPECT_THAT(read_file("out/job.toml"), HasSubstr("max_samples = 64"));
  EXPECT_FALSE(fs::exists("out/checkpoints/version-30.safetensors.partial"));
  EXPECT_FALSE(fs::exists("out/summary.json")) << "it told of the process before";
  EXPECT_THAT(read_file("out/root.json"), HasSubstr("\"term\": 2"));
  EXPECT_EQ(folder->run_id(), "00ff");
}

TEST_F(RunFolderTest, BeginsWhereAnotherWasKilledBeforeItHadBegun) {
  fs::create_directory("out");
  write_file("out/job.toml.partial", "[run");
  EXPECT_EQ(make().path(), "out");
}

TEST_F(RunFolderTest, IsNotReopenedWhereNoRunHasBegunOrOneIsGoingOn) {
  EXPECT_EQ(RunFolder::reopen("nowhere").error().code, ErrorCode::not_found);
  fs::create_directory("empty");
  EXPECT_THAT(RunFolder::reopen("empty").error().text,
              HasSubstr("empty: holds no job.toml, so no run has begun there: start it with --out empty"));
  EXPECT_FALSE(fs::exists("empty/lock"));
  const RunFolder folder = make();
  EXPECT_EQ(RunFolder::reopen("out").error().code, ErrorCode::busy);
}

TEST_F(RunFolderTest, AFullDiskLosesNothingThatIsThere) {
  RunFolder folder = make();
  Summary summary;
  summary.commits = 1;
  ASSERT_TRUE(folder.save_summary(summary));
  ASSERT_TRUE(folder.add_metrics({}, nullptr));
  const std::string rows = read_file("out/metrics.csv");
  const std::string saved = read_file("out/summary.json");
  {
    const FullDisk full(rows.size() + 10);
    summary.commits = 2;
    const Status written = folder.save_summary(summary);
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().code, ErrorCode::io);
    EXPECT_THAT(written.error().text, HasSubstr("cannot write out/summary.json: File too large"));
    const Status row = folder.add_metrics({}, nullptr);
    ASSERT_FALSE(row.ok());
    EXPECT_THAT(row.error().text, HasSubstr("cannot write out/metrics.csv: File too large"));
  }
  EXPECT_EQ(read_file("out/summary.json"), saved);
  EXPECT_EQ(read_file("out/metrics.csv"), rows);
  EXPECT_FALSE(fs::exists("out/summary.json.partial"));
  ASSERT_TRUE(folder.add_metrics({}, nullptr));
  ASSERT_TRUE(folder.save_summary(summary));
}

TEST_F(RunFolderTest, AFolderThatCouldNotBeBegunMayBeUsedLater) {
  {
    const FullDisk full(8);
    const Error error = refused();
    EXPECT_EQ(error.code, ErrorCode::io);
  }
  EXPECT_EQ(make().path(), "out");
}

}  // namespace
}  // namespace thalweg::actors
