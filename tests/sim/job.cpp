#include "tests/sim/job.hpp"

#include "runtime/check.hpp"
#include "runtime/time/random.hpp"
#include "tests/sim/methods.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace thalweg::sim {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::uint64_t job_stream = 121, size_stream = 122, newcomers_stream = 123;

bool chance(Random& random, double of) { return random.uniform() < of; }

/// `workers` below one aggregator of a tree that is `levels` deep from here.
TreeSpec tree_of(Random& random, std::size_t workers, std::size_t levels) {
  if (levels <= 1 || workers < 2) return {workers, {}};
  const auto widest = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(workers)))) + 2;
  const auto groups = 1 + random.below(std::min(workers, widest));
  TreeSpec tree;
  for (std::size_t i = 0; i < groups; ++i) {
    const auto left = workers - tree.worker_count();
    const auto fair = left / (groups - i);
    const auto least = std::max<std::size_t>(1, fair / 2);
    const auto most = std::max(least, std::min(fair * 2, left - (groups - i - 1)));
    const auto share = i + 1 == groups ? left : least + random.below(most - least + 1);
    tree.children.push_back(tree_of(random, share, levels - 1));
  }
  return tree;
}

LinkOptions links_of(Random& random) {
  LinkOptions links;
  if (chance(random, 0.1)) return links;  // all at once: the order is the seed's alone
  links.delay_max = between(random, microseconds{10}, milliseconds{20});
  links.delay_min = between(random, Time{}, links.delay_max);
  links.jitter = random.uniform() * 4;
  if (chance(random, 0.5)) links.bytes_per_s = 1e4 + random.uniform() * 1e6;
  if (chance(random, 0.4)) {
    links.loss = random.uniform() * 0.2;
    links.resend = between(random, milliseconds{1}, milliseconds{200});
  }
  if (chance(random, 0.3)) {
    links.outage = random.uniform() * 0.01;
    links.outage_max = between(random, milliseconds{10}, milliseconds{2000});
  }
  return links;
}

ComputeOptions compute_of(Random& random) {
  ComputeOptions compute;
  compute.step_max = between(random, Time{}, milliseconds{50});
  compute.step_min = chance(random, 0.5) ? compute.step_max : between(random, Time{}, compute.step_max);
  compute.jitter = random.uniform();
  if (chance(random, 0.4)) {
    compute.stall = random.uniform() * 0.05;
    compute.stall_max = between(random, milliseconds{10}, milliseconds{1000});
  }
  compute.evaluation_max = between(random, Time{}, milliseconds{500});
  return compute;
}

Trouble trouble_of(Random& random, std::uint32_t worker, bool bounded, std::uint64_t steps) {
  using Kind = Trouble::Kind;
  std::vector kinds{Kind::throws, Kind::fails, Kind::killed, Kind::not_finite, Kind::loss_not_finite};
  if (bounded) kinds.push_back(Kind::too_large);
  Trouble trouble;
  trouble.kind = kinds[random.below(kinds.size())];
  trouble.worker = worker;
  trouble.step = random.below(steps);
  trouble.times = chance(random, 0.5) ? 1 : 1 + random.below(20);
  trouble.at = between(random, Time{}, milliseconds{500});
  return trouble;
}

void add_trouble(Random& random, Job& job) {
  auto& config = job.config;
  const auto workers = config.topology.workers;
  config.guard.strikes = 1 + random.below(3);
  if (chance(random, 0.5)) config.guard.max_norm = 10 * std::sqrt(static_cast<double>(job.floats + 3));
  // Mostly some of the workers, sometimes all but one, seldom all.
  std::size_t victims = 1 + random.below(std::max<std::size_t>(1, workers / 3));
  if (chance(random, 0.2)) victims = workers - 1;
  if (chance(random, 0.05)) victims = workers;
  std::vector<std::uint32_t> numbers(workers);
  std::iota(numbers.begin(), numbers.end(), 0U);
  for (std::size_t i = 0; i < victims; ++i) {
    std::swap(numbers[i], numbers[i + random.below(workers - i)]);
    job.troubles.push_back(trouble_of(random, numbers[i], config.guard.max_norm > 0, workers > 16 ? 3 : 12));
  }
  if (chance(random, 0.2)) job.bad_sample = random.below(job.samples);
}

void add_newcomers(std::uint64_t seed, Job& job) {
  Random random(seed, newcomers_stream);
  if (!chance(random, 0.4)) return;
  const auto count = 1 + random.below(4);
  for (std::uint64_t i = 0; i < count; ++i) {
    job.newcomers.push_back({between(random, Time{}, milliseconds{1000}), random.bits() >> 32});
  }
}

std::string text_of(const Trouble& trouble) {
  const auto worker = "w" + std::to_string(trouble.worker);
  const auto steps = " in step " + std::to_string(trouble.step) +
                     (trouble.times > 1 ? " and " + std::to_string(trouble.times - 1) + " more" : "");
  switch (trouble.kind) {
    case Trouble::Kind::throws:
      return worker + " throws in step " + std::to_string(trouble.step);
    case Trouble::Kind::fails:
      return worker + " fails in step " + std::to_string(trouble.step);
    case Trouble::Kind::killed:
      return worker + " is killed at " + std::to_string(trouble.at.count() / 1000) + " us";
    case Trouble::Kind::not_finite:
      return worker + " computes NaN" + steps;
    case Trouble::Kind::loss_not_finite:
      return worker + " has an infinite loss" + steps;
    case Trouble::Kind::too_large:
      return worker + " has large gradients" + steps;
  }
  return worker;
}

}  // namespace

Job job_with(std::uint64_t seed, std::size_t workers, std::size_t levels) {
  Random random(seed, job_stream);
  const bool big = workers > 16;
  Job job;
  job.seed = seed;
  job.floats = big ? 16 : 1 + random.below(100);
  job.links = links_of(random);
  job.compute = compute_of(random);

  auto& config = job.config;
  config.run.seed = random.bits() >> 1;
  config.topology.workers = workers;
  config.topology.tree = tree_of(random, workers, levels);
  config.train.lr = 0.0625;
  config.train.momentum = 0;
  config.train.batch = {1 + random.below(big ? 3 : 8)};
  if (chance(random, 0.5)) {
    config.train.batch.assign(workers, 0);
    for (auto& batch : config.train.batch) batch = 1 + random.below(big ? 3 : 8);
  }
  std::uint64_t round = 0;
  for (std::size_t i = 0; i < workers; ++i) round += config.batch_of(i);
  job.samples = round * (1 + random.below(big ? 2 : 8)) + random.below(round);
  config.data.drop_last = chance(random, 0.5);
  config.train.epochs = 1 + random.below(big ? 2 : 3);
  if (chance(random, 0.3)) config.train.steps = 1 + random.below(big ? 4 : 40);
  config.eval.every = random.below(3);
  config.checkpoint.every = chance(random, 0.5) ? 1 + random.below(3) : 0;
  if (chance(random, 0.2)) job.stop_at = between(random, Time{}, milliseconds{big ? 200 : 1000});

  if (chance(random, 0.1)) config.stop.max_time = milliseconds{1 + random.below(2000)};
  if (chance(random, 0.1)) config.stop.max_samples = 1 + random.below(2 * job.samples);
  if (chance(random, 0.5)) add_trouble(random, job);
  if (chance(random, 0.03)) job.leader_killed_at = between(random, Time{}, milliseconds{500});
  if (config.checkpoint.every != 0 && chance(random, 0.5)) {
    job.cut_at = between(random, Time{}, milliseconds{big ? 200 : 500});
  }

  draw_method(seed, config);
  add_newcomers(seed, job);

  auto resolved = resolve_config(std::move(config));
  THALWEG_CHECK(resolved.ok(), resolved ? "" : resolved.error().text);
  job.config = std::move(*resolved);
  return job;
}

Job job_of(std::uint64_t seed) {
  Random random(seed, size_stream);
  if (seed % 100 == 0) return job_with(seed, 1000, 3);
  if (seed % 25 == 0) return job_with(seed, 64 + random.below(936), 3);
  return job_with(seed, 1 + random.below(16), 1 + random.below(3));
}

std::string Job::text() const {
  auto tree = config.topology.tree.text();
  if (tree.size() > 60) tree = tree.substr(0, 57) + "...";
  auto text =
      method_text(config) + ": " + std::to_string(config.topology.workers) + " workers as " + tree + ", ";
  text += std::to_string(config.global_batch()) + " samples a round of " + std::to_string(samples);
  if (config.data.drop_last) text += " (last dropped)";
  text += config.train.steps != 0 ? ", " + std::to_string(config.train.steps) + " rounds"
                                  : ", " + std::to_string(config.train.epochs) + " epochs";
  text += ", links to " + std::to_string(links.delay_max.count() / 1000) + " us";
  if (links.loss > 0) text += " with losses";
  if (links.outage > 0) text += " with outages";
  text += ", steps to " + std::to_string(compute.step_max.count() / 1000) + " us";
  if (compute.stall > 0) text += " with stalls";
  constexpr std::size_t listed_max = 6;
  for (std::size_t i = 0; i < std::min(troubles.size(), listed_max); ++i) text += ", " + text_of(troubles[i]);
  if (troubles.size() > listed_max) {
    text += ", " + std::to_string(troubles.size() - listed_max) + " more in trouble";
  }
  for (const auto& newcomer : newcomers) {
    text += ", one more at " + std::to_string(newcomer.at.count() / 1000) + " us";
  }
  if (bad_sample) text += ", sample " + std::to_string(*bad_sample) + " is bad";
  if (config.guard.max_norm > 0) text += ", gradients have a bound";
  if (config.stop.max_time.count() > 0) {
    text += ", at most " + std::to_string(config.stop.max_time.count()) + " ms";
  }
  if (config.stop.max_samples > 0)
    text += ", at most " + std::to_string(config.stop.max_samples) + " samples";
  if (leader_killed_at)
    text += ", g0 is killed at " + std::to_string(leader_killed_at->count() / 1000) + " us";
  if (cut_at) text += ", lost at " + std::to_string(cut_at->count() / 1000) + " us and resumed";
  if (stop_at) text += ", stopped at " + std::to_string(stop_at->count() / 1000) + " us";
  return text;
}

}  // namespace thalweg::sim
