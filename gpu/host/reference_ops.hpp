#pragma once

#include "gpu/ops.hpp"

/// Every op as plain loops over plain tensors: what the definition says, in the order a reader expects. The
/// tests hold the fast kernels against them, and a build without oneDNN runs them.
namespace thalweg::gpu::host {

class ReferenceConv2d final : public Op {
 public:
  ReferenceConv2d(const Conv2dSpec& spec, const Shape& input, const Shape& output);

  [[nodiscard]] const TensorDesc& output() const override { return output_; }
  void forward(const ForwardArgs& args) override;
  void backward(const BackwardArgs& args) override;
  [[nodiscard]] std::string implementation() const override { return "reference"; }

 private:
  /// Calls `body(x_offset, y_offset, weight_offset, pairs)` for every run of one row in which a weight meets
  /// inputs: `pairs` inputs, `stride` apart, and as many outputs, side by side.
  template <class Body>
  void for_each_run(std::size_t sample, const Body& body) const;

  Conv2dSpec spec_;
  Shape in_;
  TensorDesc output_;
};

class ReferenceLinear final : public Op {
 public:
  ReferenceLinear(const LinearSpec& spec, const Shape& input, const Shape& output);

  [[nodiscard]] const TensorDesc& output() const override { return output_; }
  void forward(const ForwardArgs& args) override;
  void backward(const BackwardArgs& args) override;
  [[nodiscard]] std::string implementation() const override { return "reference"; }

 private:
  LinearSpec spec_;
  std::size_t samples_;
  std::size_t features_;
  TensorDesc output_;
};

class ReferencePool2d final : public Op {
 public:
  ReferencePool2d(const Pool2dSpec& spec, const Shape& input, const Shape& output);

  [[nodiscard]] const TensorDesc& output() const override { return output_; }
  void forward(const ForwardArgs& args) override;
  void backward(const BackwardArgs& args) override;
  [[nodiscard]] std::string implementation() const override { return "reference"; }

 private:
  /// Calls `body(y_offset, x_offset)` for every output, the latter of its window's upper left input.
  template <class Body>
  void for_each_window(const Body& body) const;
  /// Offset within a plane of the window's largest input, the first of equals; `x` is its upper left corner.
  [[nodiscard]] std::size_t largest(const float* x) const;

  Pool2dSpec spec_;
  Shape in_;
  TensorDesc output_;
};

class ReferenceRelu final : public Op {
 public:
  explicit ReferenceRelu(const Shape& input);

  [[nodiscard]] const TensorDesc& output() const override { return output_; }
  void forward(const ForwardArgs& args) override;
  void backward(const BackwardArgs& args) override;
  [[nodiscard]] std::string implementation() const override { return "reference"; }

 private:
  TensorDesc output_;
};

class ReferenceLoss final : public LossOp {
 public:
  explicit ReferenceLoss(const Shape& logits) : logits_(logits) {}

  Score run(Stream& stream, const Tensor& logits, const std::int32_t* labels, Tensor* dlogits) override;
  [[nodiscard]] std::string implementation() const override { return "reference"; }

 private:
  Shape logits_;
};

}  // namespace thalweg::gpu::host
