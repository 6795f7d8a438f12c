#pragma once

#include "gpu/tensor.hpp"

#include <thalweg/model.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

/// Operations of a network as objects, one per shape: made once by a device (`device.conv2d(...)`), then run
/// for every batch of that shape. Network (models/network.hpp) strings them together. All run on the thread
/// of the stream they are called on; one thread at a time uses an op.
///
/// An op is told the layout its input will have and announces the layout of its output; where its kernel
/// wants another one it reorders inside. Gradients of a tensor have the tensor's layout. Weights are always
/// plain, in PyTorch's layouts, where the flat parameter vector has them.
namespace thalweg::gpu {

class Stream;

struct Conv2dSpec {
  std::size_t out_channels = 0;
  std::size_t kernel = 1;  ///< square
  std::size_t stride = 1;
  std::size_t padding = 0;  ///< zeros on each side
  bool relu = false;        ///< followed by max(0, x), fused where the device can
};

struct LinearSpec {
  std::size_t out_features =
      0;  ///< y = x Wᵀ + b over all of the input's dimensions but the first, in CHW order
  bool relu = false;
};

struct Pool2dSpec {
  enum class Kind { max, average } kind = Kind::max;
  std::size_t kernel = 2;
  std::size_t stride = 2;
};

struct ForwardArgs {
  Stream& stream;
  const Tensor& x;
  Tensor& y;                      ///< has the op's output() description
  const float* weight = nullptr;  ///< null for ops without parameters
  const float* bias = nullptr;
  bool training = true;  ///< false: nothing is kept for backward
};

struct BackwardArgs {
  Stream& stream;
  const Tensor& x;       ///< as in forward
  const Tensor& y;       ///< as forward left it
  const Tensor& dy;      ///< gradient of y; may be overwritten
  Tensor* dx = nullptr;  ///< gradient of x, overwritten; null: not wanted (first layer)
  const float* weight = nullptr;
  float* dweight = nullptr;  ///< overwritten with the sum over the batch
  float* dbias = nullptr;
};

class Op {
 public:
  virtual ~Op() = default;

  [[nodiscard]] virtual const TensorDesc& output() const = 0;
  virtual void forward(const ForwardArgs& args) = 0;
  /// Requires: forward with training = true before, on the same x and y.
  virtual void backward(const BackwardArgs& args) = 0;

  /// Which kernels it runs, for tests and `thalweg devices`: oneDNN's impl_info_str, comma-separated, or
  /// "reference".
  [[nodiscard]] virtual std::string implementation() const = 0;
};

/// Softmax and cross-entropy in one: the end of a classifier.
class LossOp {
 public:
  virtual ~LossOp() = default;

  /// Loss of `logits` ([N, classes], the layout it was made for). Overwrites `dlogits` with the gradient of
  /// the *sum* of the losses when it is not null. Fails with a score whose loss_sum is NaN when logits are
  /// not finite; a label outside [0, classes) is a bug.
  virtual Score run(Stream& stream, const Tensor& logits, const std::int32_t* labels, Tensor* dlogits) = 0;

  [[nodiscard]] virtual std::string implementation() const = 0;
};

}  // namespace thalweg::gpu
