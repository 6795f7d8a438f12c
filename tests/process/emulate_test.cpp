#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

/// Runs with [emulate]: they take at least the time that slower workers and links would, say that they are
/// emulated, and learn the same. No upper bound is asserted: the machine may be busy.
namespace thalweg::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::ordered_json;

constexpr int steps = 8;

class EmulateTest : public ::testing::Test {
 protected:
  Finished run(const std::string& out, const std::vector<std::string>& settings,
               std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"train",
                                          "--out",
                                          out,
                                          "--data",
                                          "synthetic",
                                          "--model",
                                          "mlp",
                                          "--workers",
                                          "2",
                                          "--groups",
                                          "0",
                                          "--batch",
                                          "4",
                                          "--steps",
                                          std::to_string(steps),
                                          "--set",
                                          "data.samples=256"};
    for (const auto& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments, {.folder = folder.path()});
  }
  Json train(const std::string& out, const std::vector<std::string>& settings,
             const std::vector<std::string>& more = {}) {
    const Finished finished = run(out, settings, more);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    said = finished.err + finished.out;
    return Json::parse(bytes_of(folder.path() / out / "summary.json"), nullptr, false);
  }
  [[nodiscard]] std::string model(const std::string& out) const {
    return bytes_of(folder.path() / out / "model.safetensors");
  }

  TempFolder folder;
  std::string said;
};

TEST_F(EmulateTest, AStepTakesItsLengthAndASlowWorkersIsLonger) {
  const Json plain = train("plain", {});
  EXPECT_EQ(plain["emulated"], false);
  EXPECT_TRUE(plain["speed_share"].is_null());
  EXPECT_THAT(said, Not(HasSubstr("emulated")));

  const Json slow = train("slow", {"emulate.step=20ms", "emulate.slow={w1=2.0}"});
  EXPECT_GE(slow["wall_s"].get<double>(), steps * 0.040);
  EXPECT_GE(slow["compute_s"].get<double>(), steps * 0.060) << "waiting counts as computing";
  EXPECT_EQ(slow["emulated"], true);
  EXPECT_GT(slow["speed_share"].get<double>(), 0);
  EXPECT_LE(slow["speed_share"].get<double>(), 2.0 / 3) << "w0 waits half of its time";
  EXPECT_THAT(said, HasSubstr("(emulated: a step takes 20ms, w1 2 times as long)"));
  EXPECT_THAT(said, HasSubstr(" samples/s, emulated\nspeed share    "));
  EXPECT_EQ(model("slow"), model("plain")) << "time decides nothing";
}

TEST_F(EmulateTest, WithoutALengthASlowWorkerIsSlowerThanItself) {
  const Json slow = train("slow", {"emulate.slow.w0=3"});
  EXPECT_EQ(slow["emulated"], true);
  EXPECT_TRUE(slow["speed_share"].is_null());
}

TEST_F(EmulateTest, LinksIntoTheRootTakeTheirTime) {
  // The parameters go down before a step, and its gradient up after it. A timer of an hour is dropped at the
  // end.
  const Json late = train("late", {"emulate.delay_ms=10", "stop.max_time=1h"});
  EXPECT_GE(late["wall_s"].get<double>(), steps * 0.020);
  EXPECT_EQ(late["emulated"], true);
  EXPECT_THAT(said, HasSubstr("(emulated: links into the root take 10 ms)"));

  const Json narrow = train("narrow", {"emulate.rate_mbit=400"});
  const auto bytes = narrow["bytes"]["up"][0].get<double>() / 2;  // each worker has a link of its own
  EXPECT_GE(narrow["wall_s"].get<double>(), 2 * bytes * 8 / 400e6);
  EXPECT_EQ(model("late"), model("narrow"));
}

TEST_F(EmulateTest, OnlyLinksIntoTheRootAreSlow) {
  const Json deep = train("deep", {"emulate.delay_ms=10"}, {"--groups", "2"});
  EXPECT_GE(deep["wall_s"].get<double>(), steps * 0.020);
  EXPECT_EQ(deep["end"], "done");
}

TEST_F(EmulateTest, AStepThatTheMachineCannotKeepIsRefusedBeforeTraining) {
  const Finished refused = run("out", {"emulate.step=1ms", "model.hidden=[2048]", "data.samples=4096"},
                               {"--workers", "64", "--batch", "64"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("emulate.step: 64 workers really compute on "));
  EXPECT_THAT(refused.err, HasSubstr("ms\" or more, or fewer workers\n"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out"));
}

}  // namespace
}  // namespace thalweg::testing
