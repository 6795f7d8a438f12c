#include "gpu/host/onednn_layout.hpp"
#include "gpu/host/onednn_memory.hpp"
#include "gpu/host/onednn_ops.hpp"

namespace thalweg::gpu::host {
namespace {

using Direction = Operand::Direction;

/// Takes x as it comes. Backward looks at y alone, so that x may be gone by then.
class OneDnnRelu final : public Op {
 public:
  OneDnnRelu(const dnnl::engine& engine, const TensorDesc& input);

  [[nodiscard]] const TensorDesc& output() const override { return output_; }
  void forward(const ForwardArgs& args) override;
  void backward(const BackwardArgs& args) override;
  [[nodiscard]] std::string implementation() const override { return implementation_; }

 private:
  Context context_;
  TensorDesc output_;
  std::string implementation_;
  Operand x_, y_, dy_, dx_;
  Call forward_, backward_;
};

OneDnnRelu::OneDnnRelu(const dnnl::engine& engine, const TensorDesc& input)
    : context_(engine), output_(input) {
  const auto data = desc_of(input);
  const auto forward = describe_relu(engine, data);
  const auto backward = describe_relu_backward(engine, forward, data);
  implementation_ = std::string(forward.impl_info_str()) + ", " + backward.impl_info_str();
  x_ = Operand(context_, Direction::in, data, data);
  y_ = Operand(context_, Direction::out, data, data);
  dy_ = Operand(context_, Direction::in, data, data);
  dx_ = Operand(context_, Direction::out, data, data);
  forward_ = Call(dnnl::eltwise_forward(forward), {{DNNL_ARG_SRC, x_.wanted()}, {DNNL_ARG_DST, y_.wanted()}});
  backward_ = Call(
      dnnl::eltwise_backward(backward),
      {{DNNL_ARG_DST, y_.wanted()}, {DNNL_ARG_DIFF_DST, dy_.wanted()}, {DNNL_ARG_DIFF_SRC, dx_.wanted()}});
}

void OneDnnRelu::forward(const ForwardArgs& args) {
  const OneThread one_thread;
  x_.bind(context_, args.x.data);
  y_.bind(context_, args.y.data);
  forward_.run(context_);
}

void OneDnnRelu::backward(const BackwardArgs& args) {
  if (args.dx == nullptr) return;
  const OneThread one_thread;
  y_.bind(context_, args.y.data);
  dy_.bind(context_, args.dy.data);
  dx_.bind(context_, args.dx->data);
  backward_.run(context_);
}

}  // namespace

std::unique_ptr<Op> make_onednn_relu(const dnnl::engine& engine, const TensorDesc& input) {
  return std::make_unique<OneDnnRelu>(engine, input);
}

}  // namespace thalweg::gpu::host
