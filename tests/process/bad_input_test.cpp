#include "tests/process/small_job.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// What people get wrong, and what they are told: one line on stderr, nothing on stdout, the right exit code.
namespace thalweg::testing {
namespace {

using Typed = std::vector<std::string>;

/// An IDX file: `sizes` after the magic, then `bytes`.
std::string idx(const std::vector<unsigned char>& sizes, std::size_t bytes) {
  std::string text = {0, 0, 8, static_cast<char>(sizes.size())};
  for (const unsigned char size : sizes) text += {0, 0, 0, static_cast<char>(size)};
  return text + std::string(bytes, 1);
}

class BadInputTest : public ::testing::Test {
 protected:
  void expect_refused(const Typed& typed, int exit_code, const std::string& message) {
    const Finished finished = run_program(typed, {.folder = folder.path()});
    EXPECT_EQ(finished.err, "thalweg: " + message + "\n");
    EXPECT_EQ(finished.exit_code, exit_code) << message;
    EXPECT_EQ(finished.out, "") << message;
  }
  /// `thalweg train` of the small job with `more` is refused, and no folder is made.
  void expect_job_refused(const Typed& more, int exit_code, const std::string& message) {
    expect_refused(small_job("out", more), exit_code, message);
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "out")) << message;
  }
  /// A folder with the four files of MNIST; `train_images` are the bytes of the first one.
  std::string make_data(const std::string& name, const std::string& train_images) {
    std::filesystem::create_directory(folder.path() / name);
    folder.write(name + "/train-images-idx3-ubyte", train_images);
    folder.write(name + "/train-labels-idx1-ubyte", idx({100}, 100));
    folder.write(name + "/t10k-images-idx3-ubyte", idx({10, 28, 28}, 7840));
    folder.write(name + "/t10k-labels-idx1-ubyte", idx({10}, 10));
    return name;
  }

  TempFolder folder;
};

TEST_F(BadInputTest, NumbersThatCannotBe) {
  expect_job_refused({"--workers", "0"}, 2,
                     "--workers 0: topology.workers: 0 is out of range: it must be from 1 to 4000");
  expect_job_refused(
      {"--workers", "2", "--groups", "3"}, 2,
      "--groups 3: topology.groups: 3 groups cannot share 2 workers: every group needs at least one");
  expect_job_refused({"--lr", "nan"}, 2,
                     "--lr nan: train.lr: nan is out of range: it must be finite and at least 0");
  expect_job_refused({"--lr", "fast"}, 2, "--lr fast: train.lr: expected a number, found a string");
  expect_job_refused(
      {"--batch", "[1, 2]"}, 2,
      "--batch [1, 2]: train.batch: 2 batch sizes for 4 workers: give one number for all, or one for "
      "each");
  expect_job_refused(
      {"--batch", "1000"}, 2,
      "train.batch: the batches of all workers add up to 4000 samples, more than the 2048 of the "
      "training set: choose a smaller batch or fewer workers");
}

TEST_F(BadInputTest, NamesThatNobodyKnows) {
  expect_job_refused({"--model", "lenet"}, 2,
                     "model.name = \"lenet\": no such name: did you mean \"lenet5\"? known are lenet5, mlp");
  expect_job_refused({"--data", "imagenet"}, 2,
                     "data.name = \"imagenet\": no such name: known are fashion_mnist, mnist, synthetic");
  expect_job_refused({"--method", "sgd"}, 2,
                     "--method sgd: sync.method: 'sgd' is not known: did you mean ssgd?");
  expect_job_refused({"--set", "train.lrr=1"}, 2,
                     "--set train.lrr=1: unknown key 'train.lrr': did you mean 'train.lr'?");
}

TEST_F(BadInputTest, FlagsAndCommands) {
  expect_job_refused({"--wrokers", "4"}, 2, "--wrokers: unknown flag: did you mean --workers?");
  expect_refused({"trian"}, 2, "trian: unknown command: did you mean train?");
  expect_refused({"--hlep"}, 2, "--hlep: unknown flag: did you mean --help?");
  expect_refused({"eval"}, 2, "DIR is missing: thalweg eval needs one: see thalweg eval --help");
  expect_refused({"devices", "all"}, 2, "all: not expected here: see thalweg devices --help");
  expect_job_refused({"--set", "lr=1"}, 2,
                     "--set lr=1: no SECTION.KEY=VALUE: write, for example, --set train.schedule=cosine");
}

TEST_F(BadInputTest, JobFilesSayFileAndLine) {
  folder.write("unknown.toml", "[train]\nepochs = 1\nmomentun = 0.1\n");
  expect_refused({"train", "unknown.toml"}, 2,
                 "unknown.toml:3: unknown key 'train.momentun': did you mean 'train.momentum'?");
  folder.write("type.toml", "[train]\nlr = \"fast\"\n");
  expect_refused({"train", "type.toml"}, 2, "type.toml:2: train.lr: expected a number, found a string");
  folder.write("broken.toml", "[train\nlr = 1\n");
  expect_refused({"train", "broken.toml"}, 2,
                 "broken.toml:1: not TOML: error while parsing table header: expected ']', saw '\\n'");
  expect_refused({"train", "none.toml"}, 1,
                 "cannot read job file none.toml: it does not exist: check the path");
}

TEST_F(BadInputTest, DataFiles) {
  expect_refused(
      {"train", "--data-dir", "nowhere"}, 1,
      "data file nowhere/train-images-idx3-ubyte[.gz] is not there: apt-get install dataset-fashion-mnist "
      "brings it, or say where it is with --data-dir");
  const std::string cut = make_data("cut", idx({100, 28, 28}, 78000));
  expect_refused({"train", "--data-dir", cut}, 1,
                 "cut/train-images-idx3-ubyte: byte 4: the header claims 100 x 28 x 28 bytes, a file of "
                 "78016 bytes cannot hold them: fetch the file again");
  const std::string foreign = make_data("foreign", "a letter to somebody, not images");
  expect_refused(
      {"train", "--data-dir", foreign}, 1,
      "foreign/train-images-idx3-ubyte: byte 0: not an IDX file: begins with 61 20 6c 65, expected 00 00 "
      "08 03: give the file with the images");
}

TEST_F(BadInputTest, WeightsThatDoNotFit) {
  ASSERT_EQ(run_program(small_job("good", {"-q"}), {.folder = folder.path()}).exit_code, 0);
  expect_job_refused(
      {"--set", "model.init_from=good/model.safetensors", "--set", "model.hidden=[16]"}, 1,
      "good/model.safetensors does not fit the model: tensor fc1.weight is [32, 784] in the file and "
      "[16, 784] in the model: set [model] to what it was saved with");
  expect_job_refused({"--set", "model.init_from=none.safetensors"}, 1,
                     "cannot read none.safetensors: No such file or directory: check the path");
  std::filesystem::create_directory(folder.path() / "other");
  folder.write("other/job.toml",
               "[model]\nname = \"mlp\"\nhidden = [16]\n[data]\nname = \"synthetic\"\nclasses = 4\n");
  expect_refused(
      {"eval", "other"}, 1,
      "other: holds no model.safetensors: the run has not ended, or ended before it could write one");
  std::filesystem::copy(folder.path() / "good/model.safetensors", folder.path() / "other/model.safetensors");
  expect_refused(
      {"eval", "other"}, 1,
      "other/model.safetensors does not fit the model: tensor fc1.weight is [32, 784] in the file and "
      "[16, 784] in the model: set [model] to what it was saved with");
  folder.write("other/model.safetensors", "no weights at all");
  expect_refused({"eval", "other"}, 1,
                 "cannot read other/model.safetensors as safetensors: it claims a header of "
                 "7523097587056930670 bytes, in a file of 17: copy it again, or save it as safetensors");
}

TEST_F(BadInputTest, AnEmptyJobFileName) {
  expect_refused({"train", ""}, 2,
                 "'' is no job file: name one, or leave it out to train with defaults and flags");
}

TEST_F(BadInputTest, ALearningRateThatOverflows) {
  const auto finished = run_program(small_job("out", {"--lr", "1e38", "--json"}), {.folder = folder.path()});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out, ::testing::HasSubstr(R"("end":"diverged")"));
  EXPECT_THAT(finished.out, ::testing::HasSubstr(R"("accuracy":null)"));
}

TEST_F(BadInputTest, FoldersForTheResults) {
  folder.write("file", "mine");
  expect_refused(small_job("file/out"), 1,
                 "cannot make the run folder file/out: Not a directory: check the path and its permissions");
  expect_refused(small_job("file"), 2, "file: is a file: choose another --out, or remove it");
  std::filesystem::create_directory(folder.path() / "thesis");
  folder.write("thesis/chapter.tex", "mine");
  expect_refused(small_job("thesis"), 2,
                 "thesis: is no run folder, it holds chapter.tex: choose another --out, or remove it");
  ASSERT_EQ(run_program(small_job("good", {"-q"}), {.folder = folder.path()}).exit_code, 0);
  expect_refused(small_job("good"), 2, "good: holds an earlier run: choose another --out, or remove it");
}

TEST_F(BadInputTest, FoldersToEvaluate) {
  expect_refused({"eval", "nowhere"}, 1,
                 "nowhere: no such folder: give the run folder that thalweg train made");
  std::filesystem::create_directory(folder.path() / "empty");
  expect_refused({"eval", "empty"}, 1,
                 "empty: is no run folder, it holds no job.toml: give the folder that thalweg train made");
}

}  // namespace
}  // namespace thalweg::testing
