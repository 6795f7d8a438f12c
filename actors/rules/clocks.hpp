#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>

/// How many iterations each worker has finished, for the gap rule of `stale(s)` (SSP: Ho et al., 2013).
/// The root's; knows no actor.
namespace thalweg::rules {

class Clocks {
 public:
  /// A newcomer starts at the minimum.
  void add(std::uint32_t worker) { clocks_.emplace(worker, Clock{clocks_.empty() ? 0 : least_}); }
  void remove(std::uint32_t worker) { clocks_.erase(worker); }
  void advance(std::uint32_t worker, std::uint64_t clock) {
    const auto found = clocks_.find(worker);
    if (found == clocks_.end()) return;
    found->second.finished = clock;
    if (clock > found->second.reached) found->second.runs = true;  // else it came in after the worker's rest
  }
  /// It has no sample to compute on: nobody waits for it, until it goes on. `reached`: iterations that it has
  /// finished, as it says itself; not all of them may have come in.
  void rest(std::uint32_t worker, std::uint64_t reached = 0) {
    const auto found = clocks_.find(worker);
    if (found == clocks_.end()) return;
    found->second.runs = false;
    found->second.reached = reached;
  }

  /// Finished by all of them together, and the most that can be while none that runs goes more than `gap`
  /// ahead of the slowest.
  [[nodiscard]] std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const auto& [worker, clock] : clocks_) sum += clock.finished;
    return sum;
  }
  std::uint64_t most(std::uint64_t gap) {
    const auto each = slowest();
    std::uint64_t sum = 0;
    for (const auto& [worker, clock] : clocks_) {
      sum += std::max(clock.finished, clock.runs ? each + gap + 1 : clock.reached);
    }
    return sum;
  }

  /// The minimum; it never falls. With nobody running: nobody is to be waited for.
  std::uint64_t slowest() {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (const auto& [worker, clock] : clocks_) {
      if (clock.runs) least = std::min(least, clock.finished);
    }
    if (least != std::numeric_limits<std::uint64_t>::max()) least_ = std::max(least_, least);
    return least == std::numeric_limits<std::uint64_t>::max() ? least : least_;
  }

 private:
  struct Clock {
    std::uint64_t finished = 0;
    bool runs = true;
    std::uint64_t reached = 0;  ///< when it does not
  };
  std::map<std::uint32_t, Clock> clocks_;
  std::uint64_t least_ = 0;
};

}  // namespace thalweg::rules
