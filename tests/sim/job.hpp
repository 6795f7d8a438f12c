#pragma once

#include "tests/sim/links.hpp"
#include "tests/sim/virtual_time.hpp"

#include <thalweg/config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace thalweg::sim {

/// How long streams take.
struct ComputeOptions {
  Time step_min{};        ///< of a worker, drawn once for each
  Time step_max{};        ///< the same
  double jitter = 0;      ///< of each step, up to this share of the worker's own time
  double stall = 0;       ///< chance that a step takes longer by up to `stall_max`
  Time stall_max{};       ///< the same
  Time evaluation_max{};  ///< the evaluator's, drawn once
};

/// What goes wrong with one worker.
struct Trouble {
  enum class Kind {
    throws,           ///< its model throws
    fails,            ///< its model says that it failed
    killed,           ///< its actor ends without a word
    not_finite,       ///< its gradients hold a NaN
    loss_not_finite,  ///< its losses are infinite
    too_large,        ///< its gradients are larger than guard.max_norm
  } kind = Kind::throws;
  std::uint32_t worker = 0;
  std::uint64_t step = 0;   ///< the worker's own, the first it happens in
  std::uint64_t times = 1;  ///< in so many steps in a row
  Time at{};                ///< when it is killed
};

/// One more worker, while the run goes on.
struct Newcomer {
  Time at{};
  std::uint64_t below = 0;  ///< which of the aggregators that have workers, modulo their number
};

/// All that a simulated run depends on.
struct Job {
  std::uint64_t seed = 0;     ///< of links, streams and the order in which actors run
  Config config;              ///< resolved
  std::uint64_t samples = 0;  ///< in the training set
  std::size_t floats = 16;    ///< of the model's first slot
  LinkOptions links;
  ComputeOptions compute;
  std::optional<Time> stop_at;  ///< when the user asks to stop
  std::vector<Trouble> troubles;
  std::vector<Newcomer> newcomers;
  std::optional<std::uint64_t> bad_sample;  ///< its gradient is never finite, whoever computes it
  std::optional<Time> leader_killed_at;     ///< g0's actor ends without a word
  std::optional<Time> cut_at;               ///< the machine is lost; the run goes on from the last checkpoint

  [[nodiscard]] bool troubled() const { return !troubles.empty() || bad_sample.has_value(); }
  [[nodiscard]] std::string text() const;  ///< in a line
};

/// The job of a seed. Most are of up to 16 workers; every 25th has up to 999, every 100th 1,000 in 3 levels.
Job job_of(std::uint64_t seed);

/// A job of `workers` in a tree of `levels` levels of aggregators, on links and streams of the seed.
Job job_with(std::uint64_t seed, std::size_t workers, std::size_t levels);

}  // namespace thalweg::sim
