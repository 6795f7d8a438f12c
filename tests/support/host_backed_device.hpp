#pragma once

#include "gpu/device.hpp"

#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

/// What devices whose streams take a time of their own have in common: memory and ops are the host's, and
/// work is done when it is submitted, whenever that is said.
namespace thalweg::testing {

class HostBackedDevice : public gpu::Device {
 public:
  explicit HostBackedDevice(gpu::HostOptions::Ops ops) : host_(gpu::open_host_device({ops, true})) {}

  [[nodiscard]] gpu::DeviceInfo info() const override { return host_->info(); }
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
  std::unique_ptr<gpu::Device> host_;
};

/// A stream of such a device; what it does with the end of its work is up to `submit`.
class DoneAtOnceStream : public gpu::Stream {
 public:
  explicit DoneAtOnceStream(std::string name) : name_(std::move(name)) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  /// Always ready: what was submitted has been done.
  gpu::Event record() override { return {}; }

 protected:
  Status guarded(const Work& work) {
    try {
      return work ? work(*this) : Status{};
    } catch (const std::exception& thrown) {
      return Error{ErrorCode::failed, thrown.what()};
    }
  }

  const std::string name_;
};

}  // namespace thalweg::testing
