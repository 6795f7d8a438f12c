#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <string>
#include <vector>

/// The matrix: every method, with one, two and four workers in one and two groups, learns Fashion-MNIST.
namespace thalweg::testing {
namespace {

using Json = nlohmann::ordered_json;

/// A method with settings that suit batches of eight and a third of an epoch. Momentum and delay do not go
/// together: there is none at the root.
struct Job {
  const char* method;
  double lr;
  std::vector<std::string> settings = {};
};

const std::vector<std::string> outer{"sync.outer_lr=0.5", "sync.outer_momentum=0.6"};

const Job jobs[] = {
    {"ssgd", 0.1},
    {"asp", 0.05},
    {"ssp(2)", 0.05},
    {"nsoftsync(2)", 0.05},
    {"inhad(2)", 0.1},
    {"dcasgd", 0.05},
    {"local_sgd(4)", 0.1},
    {"post_local_sgd(4)", 0.1},
    {"flsgd(4)", 0.1},
    {"diloco(4)", 0.002, outer},
    {"diloco_eager(4)", 0.002, outer},
};

struct Shape {
  int workers, groups;
};

class MethodsTest : public ::testing::TestWithParam<Job> {
 protected:
  Json train(const Job& job, const Shape& shape) {
    const auto out = "out-" + std::to_string(shape.workers) + "-" + std::to_string(shape.groups);
    std::vector<std::string> arguments{"train",
                                       "--quiet",
                                       "--json",
                                       "--out",
                                       out,
                                       "--method",
                                       job.method,
                                       "--workers",
                                       std::to_string(shape.workers),
                                       "--groups",
                                       std::to_string(shape.groups),
                                       "--batch",
                                       "8",
                                       "--lr",
                                       std::to_string(job.lr),
                                       "--momentum",
                                       "0"};
    auto settings = job.settings;
    settings.insert(settings.end(), {"stop.max_samples=20000", "eval.every=0", "checkpoint.every=0"});
    for (const auto& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
    const auto finished = run_program(arguments, {.folder = folder.path()});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return Json::parse(finished.out, nullptr, false);
  }

  TempFolder folder;
};

TEST_P(MethodsTest, Learns) {
  for (const Shape& shape : {Shape{1, 1}, {2, 1}, {4, 1}, {2, 2}, {4, 2}}) {
    const auto summary = train(GetParam(), shape);
    if (!summary.is_object()) continue;
    const double accuracy = summary["accuracy"].get<double>();
    std::printf("%s, %d workers in %d groups: accuracy %.4f, mean staleness %.2f, %.0f samples/s\n",
                GetParam().method, shape.workers, shape.groups, accuracy,
                summary["staleness"]["mean"].get<double>(), summary["samples_per_s"].get<double>());
    EXPECT_GE(accuracy, 0.7) << shape.workers << " workers in " << shape.groups << " groups";
    EXPECT_EQ(summary["end"], "done");
    EXPECT_EQ(summary["ledger"]["committed"], 20000);
    EXPECT_EQ(summary["ledger"]["repeated"], 0);
    EXPECT_EQ(summary["method"], GetParam().method);
  }
}

std::string name_of(const ::testing::TestParamInfo<Job>& info) {
  const std::string method = info.param.method;
  return method.substr(0, method.find('('));
}

INSTANTIATE_TEST_SUITE_P(Every, MethodsTest, ::testing::ValuesIn(jobs), name_of);

}  // namespace
}  // namespace thalweg::testing
