#pragma once

#include "gpu/host/onednn_memory.hpp"
#include "gpu/ops.hpp"

#include <optional>

/// Convolution and linear layers differ in how their primitives are described, and in nothing else: both turn
/// x, weight and bias into y, and dy back into dx, dweight and dbias.
namespace thalweg::gpu::host {

/// The descriptions of the three primitives, and how the caller has x, weight and bias.
struct WeightedPrimitives {
  dnnl::primitive_desc forward;
  dnnl::primitive_desc backward_data;
  dnnl::primitive_desc backward_weights;
  dnnl::memory::desc x;
  dnnl::memory::desc weight;
  dnnl::memory::desc bias;
  bool relu = false;  ///< fused into forward
};

class OneDnnWeighted final : public Op {
 public:
  OneDnnWeighted(const dnnl::engine& engine, const WeightedPrimitives& primitives);

  [[nodiscard]] const TensorDesc& output() const override { return output_; }
  void forward(const ForwardArgs& args) override;
  void backward(const BackwardArgs& args) override;
  [[nodiscard]] std::string implementation() const override { return implementation_; }

 private:
  Context context_;
  TensorDesc output_;
  std::string implementation_;
  Scratch scratch_;

  Operand x_, weight_, bias_, y_;
  Call forward_;

  Operand dy_;  ///< as the caller has it, where relu's part is taken back
  std::optional<Call> relu_backward_;

  // Backward primitives share an operand with an earlier one where both want the same layout.
  std::optional<Operand> x_again_, dy_weights_, dy_data_, weight_again_;
  Operand dweight_, dbias_, dx_;
  Call backward_weights_, backward_data_;
};

}  // namespace thalweg::gpu::host
