#pragma once

#include "gpu/device.hpp"
#include "gpu/host/kernels.hpp"

namespace thalweg::gpu::host {

/// The processor: streams are threads, buffers ordinary memory, ops whatever `kernels` makes.
class HostDevice final : public Device {
 public:
  HostDevice(std::unique_ptr<Kernels> kernels, bool inline_streams)
      : kernels_(std::move(kernels)), inline_streams_(inline_streams) {}

  [[nodiscard]] DeviceInfo info() const override;
  std::unique_ptr<Stream> open_stream(std::string name) override;
  std::shared_ptr<BufferPool> make_pool(std::size_t size, std::size_t limit) override;

  Result<std::unique_ptr<Op>> conv2d(const Conv2dSpec& spec, const TensorDesc& input) override {
    return kernels_->conv2d(spec, input);
  }
  Result<std::unique_ptr<Op>> linear(const LinearSpec& spec, const TensorDesc& input) override {
    return kernels_->linear(spec, input);
  }
  Result<std::unique_ptr<Op>> pool2d(const Pool2dSpec& spec, const TensorDesc& input) override {
    return kernels_->pool2d(spec, input);
  }
  Result<std::unique_ptr<Op>> relu(const TensorDesc& input) override { return kernels_->relu(input); }
  Result<std::unique_ptr<LossOp>> softmax_cross_entropy(const TensorDesc& logits) override {
    return kernels_->softmax_cross_entropy(logits);
  }

 private:
  std::unique_ptr<Kernels> kernels_;
  bool inline_streams_;
};

}  // namespace thalweg::gpu::host
