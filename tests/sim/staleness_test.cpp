#include "tests/sim/simulation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>

/// How old gradients get, and what travels for them, in virtual time: links without delay, and steps of ten
/// milliseconds, give or take what a test says.
namespace thalweg::sim {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t batch = 2;

TreeSpec flat(std::size_t workers) { return {workers, {}}; }
TreeSpec groups(std::size_t count, std::size_t workers) {
  return {0, std::vector<TreeSpec>(count, TreeSpec{workers, {}})};
}

/// Each worker takes about `steps` steps.
Job job_for(const std::string& method, const TreeSpec& tree, std::uint64_t seed, std::uint64_t steps) {
  Job job;
  job.seed = seed;
  job.floats = 16;
  job.compute.step_min = job.compute.step_max = milliseconds(10);
  job.compute.jitter = 0.1;
  Config config;
  config.topology.tree = tree;
  config.topology.workers = tree.worker_count();
  config.sync.method = method;
  config.train.batch = {batch};
  config.train.lr = 0.0001;
  config.train.momentum = 0;
  config.eval.every = 0;
  config.checkpoint.every = 0;
  job.samples = tree.worker_count() * batch * steps;
  job.config = resolve_config(std::move(config)).value();
  return job;
}

Summary run(const Job& job, Checker* looker = nullptr) {
  Audience audience;
  if (looker != nullptr) audience.push_back(looker);
  const auto ending = simulate({job, {}, {}}, audience);
  EXPECT_TRUE(ending.outcome) << job.config.sync.method << " stands still, seed " << job.seed << " "
                              << ending.cut;
  if (!ending.outcome) return {};
  const auto& summary = ending.outcome->summary;
  EXPECT_EQ(summary.end, "done");
  EXPECT_EQ(summary.committed, job.samples);
  return summary;
}

/// Share of the iterations that are older than `age`.
double share_above(const Summary& summary, std::size_t age) {
  std::uint64_t all = 0;
  std::uint64_t above = 0;
  for (std::size_t i = 0; i < summary.staleness_counts.size(); ++i) {
    all += summary.staleness_counts[i];
    if (i > age) above += summary.staleness_counts[i];
  }
  return static_cast<double>(above) / static_cast<double>(all);
}

std::string with(const char* method, std::uint64_t number) {
  return std::string(method) + "(" + std::to_string(number) + ")";
}

TEST(Staleness, OfNSoftSyncIsNearlyN) {
  constexpr std::uint64_t workers = 8;
  for (const std::uint64_t n : {1U, 2U, 4U, 8U}) {
    const auto summary = run(job_for(with("nsoftsync", n), flat(workers), 5 + n, 500));
    const double expected = static_cast<double>(n) * (1 - 1.0 / workers);
    std::printf("nsoftsync(%d): mean %.3f, expected %.3f; above 2n: %.4f\n", static_cast<int>(n),
                summary.staleness_mean, expected, share_above(summary, 2 * n));
    EXPECT_NEAR(summary.staleness_mean, expected, 0.05 * expected) << "n = " << n;
    EXPECT_LT(share_above(summary, 2 * n), 0.01) << "n = " << n;
  }
}

TEST(Staleness, OfInhadInTwoGroupsOfFour) {
  const std::map<std::uint64_t, double> expected{{1, 1.0}, {2, 2.0}, {4, 4.3}};
  for (const auto& [n, mean] : expected) {
    const auto summary = run(job_for(with("inhad", n), groups(2, 4), 17 + n, 500));
    std::printf("inhad(%d), 2 x 4: mean %.3f, expected %.1f\n", static_cast<int>(n), summary.staleness_mean,
                mean);
    EXPECT_NEAR(summary.staleness_mean, mean, 0.1 * mean) << "n = " << n;
  }
}

TEST(Staleness, OfInhadWithOneWorkerPerGroup) {
  for (const std::uint64_t n : {2U, 4U, 8U}) {
    const auto summary = run(job_for(with("inhad", n), groups(8, 1), 23 + n, 500));
    const double expected = 2 * static_cast<double>(n) - 1;
    std::printf("inhad(%d), 8 x 1: mean %.3f, expected %.1f\n", static_cast<int>(n), summary.staleness_mean,
                expected);
    EXPECT_NEAR(summary.staleness_mean, expected, 0.1 * expected) << "n = " << n;
  }
}

TEST(Staleness, OfMethodsInLockstepIsNoneAndOfThoseOneBehindOne) {
  for (const char* method : {"ssgd", "local_sgd(3)", "diloco(3)", "inhad(1)"}) {
    auto job = job_for(method, groups(2, 2), 31, 40);
    if (std::string(method) == "inhad(1)") job.config.sync.pace = "stale(0)";
    EXPECT_EQ(run(job).staleness_max, 0) << method;
  }
  for (const char* method : {"flsgd(4)", "diloco_eager(3)"}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      auto job = job_for(method, groups(2, 2), seed, 40);
      job.compute.step_min = milliseconds(1);
      job.links.delay_max = milliseconds(20);
      const auto summary = run(job);
      EXPECT_EQ(summary.staleness_max, 1) << method << ", seed " << seed;
      ASSERT_EQ(summary.staleness_counts.size(), 2U);
      EXPECT_GT(share_above(summary, 0), 0.5) << method << ": all but the first round";
    }
  }
}

/// Iterations that each worker has finished, while all of them have something to do.
class Gap final : public Checker {
 public:
  explicit Gap(std::size_t workers) : Checker("gap") {
    for (std::uint32_t worker = 0; worker < workers; ++worker) finished_[worker_id(worker).text()] = 0;
  }
  void sent(const Message& message) override {
    if (const auto* drained = message.as<actors::Drained>()) drained_ = drained_ || drained->drained;
    const auto found = finished_.find(message.from);
    if (drained_ || found == finished_.end() || message.as<Contribution>() == nullptr) return;
    ++found->second;
    const auto [least, most] =
        std::minmax_element(finished_.begin(), finished_.end(),
                            [](const auto& one, const auto& other) { return one.second < other.second; });
    widest = std::max(widest, most->second - least->second);
  }

  std::uint64_t widest = 0;

 private:
  std::map<std::string, std::uint64_t, std::less<>> finished_;
  bool drained_ = false;
};

TEST(Staleness, OfSspIsBoundByItsGap) {
  for (std::uint64_t gap = 0; gap <= 3; ++gap) {
    constexpr std::uint64_t workers = 3;
    std::uint64_t widest = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      auto job = job_for(with("ssp", gap), seed % 2 == 0 ? flat(workers) : groups(3, 1), seed, 60);
      job.compute.step_min = milliseconds(1);  // a worker may be a hundred times as slow as another
      job.compute.step_max = milliseconds(100);
      job.compute.stall = 0.03;
      job.compute.stall_max = milliseconds(2000);
      if (seed % 3 == 0) job.links.delay_max = milliseconds(30);
      Gap looker(workers);
      const auto summary = run(job, &looker);
      EXPECT_LE(looker.widest, gap + 1) << "seed " << seed;
      EXPECT_LE(summary.staleness_max, static_cast<double>((workers - 1) * (2 * gap + 1))) << "seed " << seed;
      widest = std::max(widest, looker.widest);
    }
    EXPECT_EQ(widest, gap + 1) << "the bound is attained";
  }
}

/// Contributions that reach the root.
class Pulled final : public Checker {
 public:
  Pulled() : Checker("pulled") {}
  void delivered(const Message& message) override {
    if (message.to == "root" && message.as<Contribution>() != nullptr) ++groups;
  }
  std::uint64_t groups = 0;
};

TEST(Bytes, OfInhadIntoTheRootAreThoseOfItsPulls) {
  const auto tree = groups(2, 4);
  constexpr std::uint64_t steps = 500;
  const auto asp = run(job_for("asp", tree, 41, steps));
  const std::map<std::uint64_t, double> most{{1, 0.28}, {2, 0.55}};
  for (const auto& [n, bound] : most) {
    Pulled looker;
    const auto inhad = run(job_for(with("inhad", n), tree, 41, steps), &looker);
    const double share = static_cast<double>(inhad.bytes_up[0]) / static_cast<double>(asp.bytes_up[0]);
    const double pulled = static_cast<double>(looker.groups) / static_cast<double>(8 * steps);
    std::printf("inhad(%d), 2 x 4: %.3f of asp's bytes; pulled groups / iterations %.3f\n",
                static_cast<int>(n), share, pulled);
    EXPECT_LE(share, 1.05 * pulled) << "n = " << n;
    EXPECT_LE(share, bound) << "n = " << n;
    EXPECT_GT(share, 0.1) << "n = " << n << ": something travels";
  }
}

}  // namespace
}  // namespace thalweg::sim
