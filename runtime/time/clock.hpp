#pragma once

#include <chrono>
#include <cstdint>

/// Time as an argument. Nothing below the program reads a clock of its own: clocks arrive by constructor, so
/// that a test can hold one still.
namespace thalweg {

class Clock {
 public:
  virtual ~Clock() = default;

  /// Time since an origin that never changes while the clock lives; never goes back.
  [[nodiscard]] virtual std::chrono::nanoseconds now() const = 0;

  /// Microseconds since 1970, for stamps and files. May be set by the machine's owner.
  [[nodiscard]] virtual std::uint64_t wall_us() const = 0;
};

/// The machine's own clocks.
class SteadyClock final : public Clock {
 public:
  [[nodiscard]] std::chrono::nanoseconds now() const override {
    return std::chrono::steady_clock::now().time_since_epoch();
  }
  [[nodiscard]] std::uint64_t wall_us() const override {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                          std::chrono::system_clock::now().time_since_epoch())
                                          .count());
  }
};

inline double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace thalweg
