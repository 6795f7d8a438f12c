#include "tests/unit/compare/made_up_comparison.hpp"

#include <utility>

namespace thalweg::compare {
namespace {

/// A run of 1000 samples in `wall_s` seconds that ends at `accuracy`, after half of it halfway.
Run made_up_run(std::size_t contestant, std::uint64_t seed, double wall_s, double accuracy) {
  Run run;
  run.contestant = contestant;
  run.seed = seed;
  run.loss = {{250, wall_s / 4, 2}, {500, wall_s / 2, 1}, {1000, wall_s, 0.5}};
  run.accuracy = {{500, wall_s / 2, accuracy / 2}, {1000, wall_s, accuracy}};
  run.started.train_samples = 500;
  run.started.parameters = 1234;
  Summary& summary = run.summary;
  summary.method = "ssgd";
  summary.seed = seed;
  summary.workers = 2;
  summary.samples = 1000;
  summary.commits = 100;
  summary.wall_s = wall_s;
  summary.samples_per_s = 1000 / wall_s;
  summary.busy_share = 0.75;
  summary.loss = 0.5;
  summary.accuracy = accuracy;
  summary.staleness_mean = 1;
  summary.staleness_counts = {25, 50, 25};
  summary.worker_summaries = {{"w0", 600, 60, wall_s * 0.5}, {"w1", 400, 40, wall_s}};
  summary.bytes_up = {1000, 3000};
  summary.bytes_down = {2000, 4000};
  summary.folder = "out/run, \"one\"";
  return run;
}

}  // namespace

Comparison made_up_comparison() {
  Comparison comparison;
  comparison.job.topology.tree.workers = 2;
  comparison.contestants = {
      {"ssgd", "ssgd", {}, 0, false},
      {"inhad(2)", "inhad(2)", {{"train.lr", "0.1"}, {"train.momentum", "0"}}, 1, false},
      {"inhad(2), equal settings", "inhad(2)", {}, 1, true}};
  comparison.seeds = {7, 8};
  comparison.runs = {made_up_run(0, 7, 10, 0.8), made_up_run(1, 7, 4, 0.9), made_up_run(2, 7, 4, 0.9),
                     made_up_run(1, 8, 6, 0.9),  made_up_run(2, 8, 4, 0.2), made_up_run(0, 8, 10, 0.82)};
  comparison.runs[4].summary.end = "diverged";
  comparison.runs[4].summary.failure = "every gradient of 3 rounds was <refused>";
  comparison.version = "0.1.0";
  comparison.folder = "out";
  return comparison;
}

}  // namespace thalweg::compare
