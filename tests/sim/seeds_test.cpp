#include "tests/sim/seeds.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace thalweg::sim {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(Seeds, HoldEveryInvariant) {
  const auto first = number_from("THALWEG_SIM_FIRST", 1);
  const auto seeds = number_from("THALWEG_SIM_SEEDS", 200);
  for (auto seed = first; seed < first + seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto job = job_of(seed);
    const auto report = run_checked({job, {}, {}});
    EXPECT_TRUE(report.findings.empty()) << failure_text(job, report);
  }
}

TEST(Seeds, EveryHundredthIsATreeOfAThousandWorkersInThreeLevels) {
  for (const std::uint64_t seed : {100U, 500U, 1000U}) {
    const auto job = job_of(seed);
    EXPECT_EQ(job.config.topology.workers, 1000U);
    EXPECT_EQ(job.config.topology.tree.worker_count(), 1000U);
    EXPECT_EQ(job.config.topology.tree.depth(), 3U);
  }
}

TEST(Seeds, AThousandWorkersInThreeLevelsCountEverySampleOnce) {
  Job job = job_with(4242, 1000, 3);
  job.config.train.epochs = 2;
  job.config.train.steps = 0;
  job.stop_at.reset();
  const auto report = run_checked({job, {}, {}});
  EXPECT_TRUE(report.findings.empty()) << failure_text(job, report);
  ASSERT_TRUE(report.ending.outcome);
  EXPECT_EQ(report.ending.outcome->summary.end, "done");
}

TEST(Seeds, ReplayIdentically) {
  std::uint64_t before = 0;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 25U, 100U}) {
    const auto job = job_of(seed);
    const auto first = run_checked({job, {}, {}});
    const auto second = run_checked({job, {}, {}});
    EXPECT_EQ(first.hash, second.hash) << "seed " << seed;
    EXPECT_EQ(first.messages, second.messages) << "seed " << seed;
    EXPECT_NE(first.hash, before) << "seed " << seed;
    before = first.hash;
  }
}

}  // namespace
}  // namespace thalweg::sim
