#pragma once

#include "gpu/device.hpp"
#include "runtime/time/manual_clock.hpp"

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
class TimedDevice final : public gpu::Device {
 public:
  /// Requires: `clock` outlives this and every stream.
  TimedDevice(StepTime step_time, ManualClock& clock) : step_time_(std::move(step_time)), clock_(clock) {}

  /// Goes to the end of the step that ends next. False: none is under way.
  bool happen();

  [[nodiscard]] gpu::DeviceInfo info() const override { return host_->info(); }
  std::unique_ptr<gpu::Stream> open_stream(std::string name) override;
  std::shared_ptr<gpu::BufferPool> make_pool(std::size_t size, std::size_t limit) override {
    return host_->make_pool(size, limit);
  }
  Result<std::unique_ptr<gpu::Op>> conv2d(const gpu::Conv2dSpec& spec,
                                          const gpu::TensorDesc& input) override {
    return host_->conv2d(spec, input);
  }
  Result<std::unique_ptr<gpu::Op>> linear(const gpu::LinearSpec& spec,
                                          const gpu::TensorDesc& input) override {
    return host_->linear(spec, input);
  }
  Result<std::unique_ptr<gpu::Op>> pool2d(const gpu::Pool2dSpec& spec,
                                          const gpu::TensorDesc& input) override {
    return host_->pool2d(spec, input);
  }
  Result<std::unique_ptr<gpu::Op>> relu(const gpu::TensorDesc& input) override { return host_->relu(input); }
  Result<std::unique_ptr<gpu::LossOp>> softmax_cross_entropy(const gpu::TensorDesc& logits) override {
    return host_->softmax_cross_entropy(logits);
  }

 private:
  class TimedStream;
  struct End {
    std::chrono::nanoseconds when{};
    std::function<void()> say;
  };

  StepTime step_time_;
  ManualClock& clock_;
  std::vector<End> ends_;  ///< of steps under way, in the order in which they began
  std::unique_ptr<gpu::Device> host_ = gpu::open_host_device({gpu::HostOptions::Ops::best, true});
};

}  // namespace thalweg::testing
