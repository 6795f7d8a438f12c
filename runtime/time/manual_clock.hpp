#pragma once

#include "runtime/time/clock.hpp"

#include <atomic>

namespace thalweg {

/// A clock that stands still until a test moves it. Any thread may read it.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::uint64_t wall_us = 0) : wall_origin_us_(wall_us) {}

  [[nodiscard]] std::chrono::nanoseconds now() const override {
    return std::chrono::nanoseconds{now_ns_.load()};
  }
  [[nodiscard]] std::uint64_t wall_us() const override {
    return wall_origin_us_ + static_cast<std::uint64_t>(now_ns_.load() / 1000);
  }
  void advance(std::chrono::nanoseconds by) { now_ns_ += by.count(); }

 private:
  std::uint64_t wall_origin_us_;
  std::atomic<std::int64_t> now_ns_{0};
};

}  // namespace thalweg
