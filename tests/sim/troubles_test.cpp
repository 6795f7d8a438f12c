#include "tests/sim/seeds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

/// What can go wrong with workers, one thing at a time. All checkers look on; each test says how the run
/// ends.
namespace thalweg::sim {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = Trouble::Kind;

/// Six workers in two groups, two epochs of 100 samples, slow links.
Job six_workers() {
  Job job;
  job.seed = 11;
  job.floats = 5;
  job.samples = 100;
  job.links.delay_max = milliseconds(20);
  job.links.jitter = 2;
  job.compute.step_max = milliseconds(10);
  job.compute.jitter = 0.5;
  Config config;
  config.topology.tree = {0, {{3, {}}, {3, {}}}};
  config.topology.workers = 6;
  config.train.batch = {2, 3, 2, 3, 2, 3};
  config.train.epochs = 2;
  config.train.lr = 0.0625;
  config.train.momentum = 0;
  config.checkpoint.every = 0;
  job.config = resolve_config(config).value();
  return job;
}

/// Runs it; no checker may find anything.
Summary summary_of(const Job& job) {
  const auto report = run_checked({job, {}, {}});
  EXPECT_THAT(report.findings, IsEmpty()) << failure_text(job, report);
  return report.ending.outcome ? report.ending.outcome->summary : Summary{};
}

TEST(Troubles, AKilledWorkersSamplesAreComputedByOthers) {
  auto job = six_workers();
  job.troubles = {{Kind::killed, 1, 0, 1, milliseconds(130)}};
  const auto summary = summary_of(job);
  EXPECT_EQ(summary.end, "done");
  EXPECT_EQ(summary.committed, 200U);
}

TEST(Troubles, OneOfSixIsEnough) {
  for (const auto kind : {Kind::throws, Kind::fails, Kind::killed}) {
    auto job = six_workers();
    for (std::uint32_t worker = 0; worker < 5; ++worker) {
      job.troubles.push_back({kind, worker, worker, 1, milliseconds(50 * worker)});
    }
    const auto summary = summary_of(job);
    EXPECT_EQ(summary.end, "done");
    EXPECT_EQ(summary.committed, 200U);
  }
}

TEST(Troubles, WithoutWorkersTheRunFails) {
  auto job = six_workers();
  for (std::uint32_t worker = 0; worker < 6; ++worker)
    job.troubles.push_back({Kind::throws, worker, 2, 1, {}});
  const auto summary = summary_of(job);
  EXPECT_EQ(summary.end, "failed");
  EXPECT_THAT(summary.failure, HasSubstr("0 workers are left"));
}

TEST(Troubles, WhatIsNoGoodIsRefusedAndComputedByAnother) {
  for (const auto kind : {Kind::not_finite, Kind::loss_not_finite, Kind::too_large}) {
    auto job = six_workers();
    job.config.guard.max_norm = 100;
    job.troubles = {{kind, 2, 1, 1, {}}};
    const auto summary = summary_of(job);
    EXPECT_EQ(summary.end, "done");
    EXPECT_EQ(summary.refused, 1U);
    EXPECT_EQ(summary.committed, 200U);
    EXPECT_EQ(summary.quarantined, 0U);
  }
}

TEST(Troubles, ABadSampleIsQuarantinedWithTheBatchItIsIn) {
  auto job = six_workers();
  job.bad_sample = 42;
  const auto summary = summary_of(job);
  EXPECT_EQ(summary.end, "done");
  EXPECT_GE(summary.quarantined, 2U);
  EXPECT_LE(summary.quarantined, 6U);
  EXPECT_EQ(summary.committed + summary.quarantined, 200U);
}

TEST(Troubles, TooManyBadGradientsCostAWorkerItsPlace) {
  auto job = six_workers();
  job.config.guard.strikes = 2;
  job.troubles = {{Kind::not_finite, 4, 0, 100, {}}};
  const auto summary = summary_of(job);
  EXPECT_EQ(summary.end, "done");
  EXPECT_EQ(summary.committed, 200U);
  EXPECT_GE(summary.refused, 2U);
  EXPECT_LE(summary.refused, 5U);
}

TEST(Troubles, AStopWhileWorkersDieIsAStop) {
  for (int ms = 0; ms < 300; ms += 7) {
    auto job = six_workers();
    job.stop_at = milliseconds(ms);
    for (std::uint32_t worker = 0; worker < 5; ++worker) {
      job.troubles.push_back(
          {Kind::killed, worker, 0, 1, milliseconds(ms + 5 * static_cast<int>(worker) - 12)});
    }
    EXPECT_EQ(summary_of(job).end, "stopped") << ms << " ms";
  }
}

TEST(Troubles, ALostMachineGoesOnFromItsLastCheckpoint) {
  for (int ms = 0; ms < 600; ms += 13) {
    auto job = six_workers();
    job.config.checkpoint.every = 2;
    job.cut_at = milliseconds(ms);
    job.troubles = {{Kind::not_finite, 2, 1, 1, {}}, {Kind::killed, 5, 0, 1, milliseconds(90)}};
    job.bad_sample = 7;
    const auto summary = summary_of(job);
    EXPECT_EQ(summary.end, "done") << ms << " ms";
    EXPECT_EQ(summary.committed + summary.quarantined, 200U) << ms << " ms";
  }
}

TEST(Troubles, ALeaderMayHearOfItsMembersAfterItsFirstParameters) {
  const Bug late_rosters = [](Letter letter, const Directory&) {
    if (letter.stamp.kind == MessageKind::roster) letter.delay = milliseconds(100);
    return std::vector{std::move(letter)};
  };
  const auto job = six_workers();
  const auto report = run_checked({job, late_rosters, {}});
  EXPECT_THAT(report.findings, IsEmpty()) << failure_text(job, report);
}

TEST(Troubles, ALostLeaderEndsTheRun) {
  auto job = six_workers();
  job.leader_killed_at = milliseconds(100);
  const auto summary = summary_of(job);
  EXPECT_EQ(summary.end, "failed");
  EXPECT_THAT(summary.failure, HasSubstr("g0"));
}

}  // namespace
}  // namespace thalweg::sim
