#pragma once

#include "runtime/time/manual_clock.hpp"
#include "tests/support/host_backed_device.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace thalweg::testing {

/// How long step `step` (from 0) of worker `worker` takes.
using StepTime = std::function<std::chrono::nanoseconds(std::size_t worker, std::uint64_t step)>;

/// A host device whose steps take time on a clock that nobody else moves: work is done when it is submitted,
/// and said to be done when `happen` has reached the end of its time. What is not a worker's takes none.
class TimedDevice final : public HostBackedDevice {
 public:
  /// Requires: `clock` outlives this and every stream.
  TimedDevice(StepTime step_time, ManualClock& clock)
      : HostBackedDevice(gpu::HostOptions::Ops::best), step_time_(std::move(step_time)), clock_(clock) {}

  /// Goes to the end of the step that ends next. False: none is under way.
  bool happen();

  std::unique_ptr<gpu::Stream> open_stream(std::string name) override;

 private:
  class TimedStream;
  struct End {
    std::chrono::nanoseconds when{};
    std::function<void()> say;
  };

  StepTime step_time_;
  ManualClock& clock_;
  std::vector<End> ends_;  ///< of steps under way, in the order in which they began
};

}  // namespace thalweg::testing
