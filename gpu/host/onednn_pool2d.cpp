#include "gpu/host/isa_kernels.hpp"
#include "gpu/host/onednn_layout.hpp"
#include "gpu/host/onednn_memory.hpp"
#include "gpu/host/onednn_ops.hpp"

#include <fmt/format.h>

namespace thalweg::gpu::host {
namespace {

using Direction = Operand::Direction;

/// Pooling by loops of our own (host/pool_loops.cpp) over the layouts oneDNN's convolutions choose; README.md
/// says why. A layout they cannot walk is brought into blocks of eight channels first.
class Pool2d final : public Op {
 public:
  Pool2d(const dnnl::engine& engine, const Pool2dSpec& spec, const TensorDesc& input, const Shape& output);

  [[nodiscard]] const TensorDesc& output() const override { return output_; }
  void forward(const ForwardArgs& args) override;
  void backward(const BackwardArgs& args) override;
  [[nodiscard]] std::string implementation() const override;

 private:
  Context context_;
  Pool2dSpec::Kind kind_;
  PoolShape shape_{};
  const ImageKernels& kernels_;
  TensorDesc output_;
  Operand x_, dx_;
};

Pool2d::Pool2d(const dnnl::engine& engine, const Pool2dSpec& spec, const TensorDesc& input,
               const Shape& output)
    : context_(engine), kind_(spec.kind), kernels_(best_isa_kernels().image) {
  const auto given = desc_of(input);
  const auto known = lanes_of(given);
  const auto lanes = known != 0 ? known : 8;
  const auto wanted = known != 0 ? given : desc_with_lanes(dims_of(input.shape), lanes);
  output_ = tensor_of(desc_with_lanes(dims_of(output), lanes));
  x_ = Operand(context_, Direction::in, given, wanted);
  dx_ = Operand(context_, Direction::out, given, wanted);
  const auto blocks = (input.shape[1] + lanes - 1) / lanes;
  shape_ = {input.shape[0] * blocks,
            input.shape[2],
            input.shape[3],
            lanes,
            output[2],
            output[3],
            spec.kernel,
            spec.stride};
}

float* data_of(const Operand& operand) { return static_cast<float*>(operand.wanted().get_data_handle()); }

void Pool2d::forward(const ForwardArgs& args) {
  const OneThread one_thread;
  x_.bind(context_, args.x.data);
  const auto pool = kind_ == Pool2dSpec::Kind::max ? kernels_.max_pool : kernels_.average_pool;
  pool(shape_, data_of(x_), args.y.data);
}

void Pool2d::backward(const BackwardArgs& args) {
  if (args.dx == nullptr) return;
  const OneThread one_thread;
  dx_.bind(context_, args.dx->data);
  if (kind_ == Pool2dSpec::Kind::max) {
    kernels_.max_pool_backward(shape_, data_of(x_), args.y.data, args.dy.data, data_of(dx_));
  } else {
    kernels_.average_pool_backward(shape_, args.dy.data, data_of(dx_));
  }
  dx_.finish(context_);
}

std::string Pool2d::implementation() const {
  auto text = fmt::format("loop:{}", best_isa_kernels().name);
  if (x_.reorders()) text += fmt::format(", reorder {}", x_.implementation());
  return text;
}

}  // namespace

std::unique_ptr<Op> make_onednn_pool2d(const dnnl::engine& engine, const Pool2dSpec& spec,
                                       const TensorDesc& input, const Shape& output) {
  return std::make_unique<Pool2d>(engine, spec, input, output);
}

}  // namespace thalweg::gpu::host
