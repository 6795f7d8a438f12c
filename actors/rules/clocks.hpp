#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>

/// How many iterations each worker has finished, for the gap rule of `stale(s)` (SSP: Ho et al., 2013).
/// The root's; knows no actor.
namespace thalweg::rules {

class Clocks {
 public:
  /// A newcomer starts at the minimum.
  void add(std::uint32_t worker) { clocks_.emplace(worker, Clock{clocks_.empty() ? 0 : least_, {}}); }
  void remove(std::uint32_t worker) { clocks_.erase(worker); }
  void advance(std::uint32_t worker, std::uint64_t clock) {
    if (const auto found = clocks_.find(worker); found != clocks_.end()) found->second.finished = clock;
  }
  /// It has no sample to compute on after its iteration `clock`, which may not be in a commit yet: nobody
  /// waits for it, until it has gone on.
  void rest(std::uint32_t worker, std::uint64_t clock) {
    if (const auto found = clocks_.find(worker); found != clocks_.end()) found->second.rested_at = clock;
  }
  [[nodiscard]] std::uint64_t of(std::uint32_t worker) const {
    const auto found = clocks_.find(worker);
    return found == clocks_.end() ? 0 : found->second.finished;
  }

  /// The minimum; it never falls. With nobody running: nobody is to be waited for.
  std::uint64_t slowest() {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (const auto& [worker, clock] : clocks_) {
      if (clock.runs()) least = std::min(least, clock.finished);
    }
    if (least != std::numeric_limits<std::uint64_t>::max()) least_ = std::max(least_, least);
    return least == std::numeric_limits<std::uint64_t>::max() ? least : least_;
  }

  /// Iterations that are finished at most and in no commit, when all that run wait for the slowest and may be
  /// `gap` iterations ahead of it.
  std::uint64_t room(std::uint64_t gap) {
    const auto least = slowest();
    std::uint64_t room = 0;
    for (const auto& [worker, clock] : clocks_) {
      const auto most = clock.runs() ? least + gap + 1 : *clock.rested_at;
      if (most > clock.finished) room += most - clock.finished;
    }
    return room;
  }

 private:
  struct Clock {
    std::uint64_t finished = 0;
    std::optional<std::uint64_t> rested_at;
    [[nodiscard]] bool runs() const { return !rested_at || finished > *rested_at; }
  };
  std::map<std::uint32_t, Clock> clocks_;
  std::uint64_t least_ = 0;
};

}  // namespace thalweg::rules
