#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

/// The turns of rounds: when each worker's gradient was ready, and when it had handled the parameters that
/// came of it.
namespace thalweg::bench {

struct Turns {
  using Times = std::vector<std::chrono::nanoseconds>;

  Turns(std::size_t workers, std::size_t rounds) : ready(workers), adopted(workers) {
    for (std::size_t worker = 0; worker < workers; ++worker) {
      ready[worker].reserve(rounds + 1);
      adopted[worker].reserve(rounds + 1);
    }
  }

  /// By worker, then by round. A worker's times are written by one thread at a time.
  std::vector<Times> ready, adopted;

  /// Median over the rounds, without the first tenth, of the time from the last gradient to the last worker,
  /// in seconds. Requires: every worker has a time for each of the `rounds` rounds.
  [[nodiscard]] double median_s(std::size_t rounds) const;
};

}  // namespace thalweg::bench
