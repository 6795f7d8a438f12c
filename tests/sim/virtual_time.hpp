#pragma once

#include "runtime/time/clock.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace thalweg::sim {

using Time = std::chrono::nanoseconds;

/// The one clock and the one queue of a simulation: whatever happens later, happens as an event of it. Time
/// goes from event to event, and stands still while actors run.
class VirtualTime final : public Clock {
 public:
  using Event = std::function<void()>;

  [[nodiscard]] Time now() const override { return now_; }
  [[nodiscard]] std::uint64_t wall_us() const override {
    return origin_us + static_cast<std::uint64_t>(now_.count() / 1000);
  }

  /// Has `event` happen at `when`, or now if that has passed. Events of one moment happen in the order of
  /// `tie`, and those of one tie in the order in which they were added.
  void at(Time when, std::uint64_t tie, Event event);

  [[nodiscard]] bool empty() const { return queue_.empty(); }
  [[nodiscard]] bool due() const { return !queue_.empty() && queue_.front().when <= now_; }

  /// Lets the first event happen that is due. Requires: due().
  void happen();
  /// Goes to the moment of the next event. Requires: not empty().
  void advance();
  /// Forgets what was to happen.
  void clear() { queue_.clear(); }

 private:
  static constexpr std::uint64_t origin_us = 1'000'000;

  struct Entry {
    Time when;
    std::uint64_t tie;
    std::uint64_t sequence;
    Event event;
  };
  static bool later(const Entry& a, const Entry& b);

  Time now_{};
  std::uint64_t sequence_ = 0;
  std::vector<Entry> queue_;  ///< a heap, the next event first
};

}  // namespace thalweg::sim
