#pragma once

#include "gpu/device.hpp"
#include "tests/sim/checker.hpp"
#include "tests/sim/virtual_time.hpp"

#include <memory>
#include <string>

namespace thalweg::sim {

/// A device whose streams take virtual time: work is done when it is submitted, and said to be done when its
/// duration has gone by. Memory and ops are the host's.
class VirtualDevice final : public gpu::Device {
 public:
  /// Requires: `time` and `audience` outlive every stream.
  VirtualDevice(const ComputeOptions& options, std::uint64_t seed, VirtualTime& time,
                const Audience& audience)
      : options_(options), seed_(seed), time_(time), audience_(audience) {}

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
  ComputeOptions options_;
  std::uint64_t seed_;
  VirtualTime& time_;
  const Audience& audience_;
  std::uint64_t streams_ = 0;
  std::unique_ptr<gpu::Device> host_ = gpu::open_host_device({gpu::HostOptions::Ops::reference, true});
};

}  // namespace thalweg::sim
