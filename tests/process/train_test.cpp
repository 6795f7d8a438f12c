#include "tests/process/small_job.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

/// Whole runs of the program: that it learns, what it leaves behind, and that a seed decides everything.
namespace thalweg::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::ordered_json;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char character : line) {
    if (character == ',') {
      cells.emplace_back();
    } else {
      cells.back() += character;
    }
  }
  return cells;
}

class TrainTest : public ::testing::Test {
 protected:
  Finished run(const std::vector<std::string>& arguments) {
    return run_program(arguments, {.folder = folder.path()});
  }
  /// A run that must succeed; its --json object.
  Json train(const std::string& out, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--json", "--quiet"});
    const Finished finished = run(small_job(out, more));
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return Json::parse(finished.out, nullptr, false);
  }
  [[nodiscard]] std::string bytes(const std::string& file) const { return bytes_of(folder.path() / file); }

  TempFolder folder;
};

TEST_F(TrainTest, LearnsAndSaysSo) {
  const Finished finished = run(small_job("out"));
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, StartsWith("training mlp ("));
  EXPECT_THAT(finished.err, HasSubstr("on synthetic (2,048 samples): 4 workers"));
  EXPECT_THAT(finished.err, HasSubstr("into out\n"));
  EXPECT_THAT(finished.err, HasSubstr("epoch 2: test accuracy "));
  EXPECT_EQ(finished.err.find_first_of("\r\033"), std::string::npos) << "no terminal, no control characters";
  EXPECT_THAT(finished.out, StartsWith("test accuracy  "));
  EXPECT_THAT(finished.out, EndsWith("model          out/model.safetensors\n"));
  const Json summary = Json::parse(bytes("out/summary.json"), nullptr, false);
  EXPECT_GE(summary["accuracy"].get<double>(), 0.9);
  EXPECT_EQ(summary["end"], "done");
}

TEST_F(TrainTest, TheJsonObjectIsTheSummaryWithEveryField) {
  const Finished finished = run(small_job("out", {"--json", "--workers", "6", "--groups", "2"}));
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(lines_of(finished.out).size(), 1u) << finished.out;
  EXPECT_EQ(finished.out, bytes("out/summary.json"));
  EXPECT_THAT(finished.err, HasSubstr("test accuracy  ")) << "the block is for people, on stderr";
  const Json summary = Json::parse(finished.out, nullptr, false);
  std::vector<std::string> names;
  for (const auto& item : summary.items()) names.push_back(item.key());
  const std::vector<std::string> documented = {
      "run",           "method",   "model",    "data",      "seed",      "workers",    "groups",
      "epochs",        "samples",  "commits",  "wall_s",    "compute_s", "busy_share", "speed_share",
      "samples_per_s", "loss",     "accuracy", "staleness", "bytes",     "messages",   "ledger",
      "refused",       "emulated", "end",      "schema"};
  ASSERT_GE(names.size(), documented.size());
  names.resize(documented.size());
  EXPECT_EQ(names, documented);
  EXPECT_EQ(summary["run"].get<std::string>().size(), 32u);
  EXPECT_EQ(summary["method"], "ssgd");
  EXPECT_EQ(summary["workers"], 6);
  EXPECT_EQ(summary["groups"], 2);
  EXPECT_EQ(summary["samples"], 4096);
  EXPECT_EQ(summary["ledger"]["committed"], 4096);
  EXPECT_EQ(summary["commits"], 2 * 22) << "2048 samples, 96 a round, the last round of an epoch is short";
  EXPECT_GT(summary["busy_share"], 0);
  EXPECT_LE(summary["busy_share"], 1.001);
  EXPECT_EQ(summary["bytes"]["up"].size(), 2u) << "a root and a level of leaders";
  EXPECT_EQ(summary["schema"], 1);
}

TEST_F(TrainTest, MetricsRiseRowByRow) {
  train("out");
  const std::vector<std::string> lines = lines_of(bytes("out/metrics.csv"));
  ASSERT_GE(lines.size(), 3u);
  EXPECT_EQ(lines[0],
            "wall_s,epoch,samples,version,loss,accuracy,samples_per_s,staleness,bytes_up,bytes_down");
  double wall_s = 0;
  std::uint64_t samples = 0;
  std::size_t evaluations = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> cells = cells_of(lines[i]);
    ASSERT_EQ(cells.size(), 10u) << lines[i];
    EXPECT_GE(std::stod(cells[0]), wall_s);
    wall_s = std::stod(cells[0]);
    const std::uint64_t row_samples = std::stoull(cells[2]);
    if (cells[5].empty()) {
      EXPECT_GE(row_samples, samples);
      samples = row_samples;
    } else {
      // Evaluation goes on beside training: its row comes when it is done, and says which samples it is
      // about.
      EXPECT_LE(row_samples, samples);
      ++evaluations;
    }
  }
  EXPECT_EQ(samples, 4096u);
  EXPECT_EQ(evaluations, 2u);
}

TEST_F(TrainTest, TheFolderHoldsWhatIsDocumented) {
  train("out");
  for (const char* file :
       {"job.toml", "lock", "root.json", "summary.json", "metrics.csv", "model.safetensors"}) {
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "out" / file)) << file;
  }
  EXPECT_FALSE(std::filesystem::is_empty(folder.path() / "out/checkpoints"));
}

TEST_F(TrainTest, TheSeedDecidesTheModelToTheLastBit) {
  train("a", {"--seed", "7", "--groups", "2"});
  train("b", {"--seed", "7", "--groups", "2"});
  train("c", {"--seed", "8", "--groups", "2"});
  EXPECT_FALSE(bytes("a/model.safetensors").empty());
  EXPECT_EQ(bytes("a/model.safetensors"), bytes("b/model.safetensors"));
  EXPECT_NE(bytes("a/model.safetensors"), bytes("c/model.safetensors"));
}

TEST_F(TrainTest, APrintedJobIsTheSameJob) {
  const std::vector<std::string> flags = {"--lr",          "0.07", "--set",   "topology.tree=[[2, 2], [3]]",
                                          "--seed",        "5",    "--batch", "[4, 4, 4, 4, 8, 8, 8]",
                                          "--print-config"};
  const Finished first = run(small_job("out", flags));
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.err, "");
  EXPECT_THAT(first.out, HasSubstr("lr = 0.07"));
  folder.write("job.toml", first.out);
  const Finished second = run({"train", "job.toml", "--print-config"});
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(second.out, first.out);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out")) << "printing trains nothing";
}

TEST_F(TrainTest, TheJobInTheFolderTrainsTheSameModelAgain) {
  train("a", {"--workers", "3"});
  const Finished again = run({"train", "a/job.toml", "--out", "b", "--quiet"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(bytes("a/model.safetensors"), bytes("b/model.safetensors"));
}

TEST_F(TrainTest, WithoutOutEachRunGetsTheNextFolder) {
  for (const char* out : {"runs/mlp-1", "runs/mlp-2"}) {
    const Finished finished = run({"train", "--data", "synthetic", "--model", "mlp", "--steps", "2", "-q"});
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_THAT(finished.out, HasSubstr(std::string(out) + "/model.safetensors"));
  }
}

TEST_F(TrainTest, EvalReproducesTheAccuracy) {
  const Json trained = train("out");
  const Finished finished = run({"eval", "out", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const Json evaluated = Json::parse(finished.out, nullptr, false);
  EXPECT_EQ(evaluated["accuracy"], trained["accuracy"]);
  EXPECT_DOUBLE_EQ(evaluated["loss"].get<double>(), trained["loss"].get<double>());
  const Finished text = run({"eval", "out"});
  EXPECT_THAT(text.out, StartsWith("test accuracy  "));
}

TEST_F(TrainTest, QuietLeavesOnlyTheResult) {
  const Finished finished = run(small_job("out", {"-q"}));
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, StartsWith("test accuracy  "));
}

TEST_F(TrainTest, ATerminalSeesOneLineRedrawn) {
  const Finished finished = run_program(
      small_job("out", {"--epochs", "4"}),
      {.folder = folder.path(), .environment = {{"TERM", "xterm"}, {"NO_COLOR", "1"}}, .terminal = true});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("\r\033[Kepoch "));
  EXPECT_THAT(finished.err, HasSubstr("epoch 4.00/4  100 %"));
  EXPECT_EQ(finished.err.find("\033[32m"), std::string::npos) << "NO_COLOR";
  EXPECT_EQ(lines_of(finished.err).size(), 2u) << finished.err;
}

}  // namespace
}  // namespace thalweg::testing
