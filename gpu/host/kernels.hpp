#pragma once

#include "gpu/ops.hpp"

#include <thalweg/result.hpp>

#include <memory>
#include <string>

/// Where the host device gets its op objects from: oneDNN's primitives, or plain loops. Specs arrive
/// unchecked.
namespace thalweg::gpu::host {

class Kernels {
 public:
  virtual ~Kernels() = default;

  [[nodiscard]] virtual std::string library() const = 0;  ///< as in DeviceInfo

  virtual Result<std::unique_ptr<Op>> conv2d(const Conv2dSpec& spec, const TensorDesc& input) = 0;
  virtual Result<std::unique_ptr<Op>> linear(const LinearSpec& spec, const TensorDesc& input) = 0;
  virtual Result<std::unique_ptr<Op>> pool2d(const Pool2dSpec& spec, const TensorDesc& input) = 0;
  virtual Result<std::unique_ptr<Op>> relu(const TensorDesc& input) = 0;
  virtual Result<std::unique_ptr<LossOp>> softmax_cross_entropy(const TensorDesc& logits) = 0;
};

/// Plain loops over plain tensors: the oracle of the tests, and the fallback.
std::unique_ptr<Kernels> make_reference_kernels();

/// Null when this build has no oneDNN.
std::unique_ptr<Kernels> make_onednn_kernels();

/// Keeps everything the calling thread computes on that thread, from now on. Streams call it once, first
/// thing.
void hold_to_one_thread();

/// Between a tensor in whatever layout the ops chose and plain row-major floats, `desc.shape.count()` of
/// them. For tests and tools: a step never does this.
void copy_to_plain(const Tensor& tensor, float* plain);
void copy_from_plain(const float* plain, const Tensor& tensor);

}  // namespace thalweg::gpu::host
