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
  void add(std::uint32_t worker) { clocks_.emplace(worker, Clock{clocks_.empty() ? 0 : least_, true}); }
  void remove(std::uint32_t worker) { clocks_.erase(worker); }
  void advance(std::uint32_t worker, std::uint64_t clock) {
    if (const auto found = clocks_.find(worker); found != clocks_.end()) found->second = {clock, true};
  }
  /// It has no sample to compute on: nobody waits for it, until it goes on.
  void rest(std::uint32_t worker) {
    if (const auto found = clocks_.find(worker); found != clocks_.end()) found->second.runs = false;
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
      sum += clock.runs ? std::max(clock.finished, each + gap + 1) : clock.finished;
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
  };
  std::map<std::uint32_t, Clock> clocks_;
  std::uint64_t least_ = 0;
};

}  // namespace thalweg::rules
