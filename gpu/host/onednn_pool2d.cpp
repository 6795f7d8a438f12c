#include "gpu/host/onednn_layout.hpp"
#include "gpu/host/onednn_memory.hpp"
#include "gpu/host/onednn_ops.hpp"

namespace thalweg::gpu::host {
namespace {

using Direction = Operand::Direction;

/// Takes x as it comes: pooling is as fast in any of the layouts convolutions choose.
class OneDnnPool2d final : public Op {
 public:
  OneDnnPool2d(const dnnl::engine& engine, const PoolForward::primitive_desc& forward,
               const PoolBackward::primitive_desc& backward);

  [[nodiscard]] const TensorDesc& output() const override { return output_; }
  void forward(const ForwardArgs& args) override;
  void backward(const BackwardArgs& args) override;
  [[nodiscard]] std::string implementation() const override { return implementation_; }

 private:
  Context context_;
  TensorDesc output_;
  std::string implementation_;
  Scratch scratch_;
  AlignedMemory workspace_;  ///< max pooling: where each largest input was
  Operand x_, y_, dy_, dx_;
  Call forward_, backward_;
};

OneDnnPool2d::OneDnnPool2d(const dnnl::engine& engine, const PoolForward::primitive_desc& forward,
                           const PoolBackward::primitive_desc& backward)
    : context_(engine),
      output_(tensor_of(forward.dst_desc())),
      implementation_(std::string(forward.impl_info_str()) + ", " + backward.impl_info_str()),
      scratch_({forward.scratchpad_desc(), backward.scratchpad_desc()}),
      x_(context_, Direction::in, forward.src_desc(), forward.src_desc()),
      y_(context_, Direction::out, forward.dst_desc(), forward.dst_desc()),
      dy_(context_, Direction::in, forward.dst_desc(), backward.diff_dst_desc()),
      dx_(context_, Direction::out, forward.src_desc(), backward.diff_src_desc()) {
  Call::Arguments forward_arguments = {{DNNL_ARG_SRC, x_.wanted()}, {DNNL_ARG_DST, y_.wanted()}};
  Call::Arguments backward_arguments = {{DNNL_ARG_DIFF_DST, dy_.wanted()}, {DNNL_ARG_DIFF_SRC, dx_.wanted()}};
  forward_arguments.emplace_back(DNNL_ARG_SCRATCHPAD, scratch_.memory(context_, forward.scratchpad_desc()));
  backward_arguments.emplace_back(DNNL_ARG_SCRATCHPAD, scratch_.memory(context_, backward.scratchpad_desc()));
  const auto workspace_desc = forward.workspace_desc();
  if (workspace_desc.get_size() > 0) {
    workspace_ = AlignedMemory(workspace_desc.get_size());
    const dnnl::memory workspace(workspace_desc, engine, workspace_.data());
    forward_arguments.emplace_back(DNNL_ARG_WORKSPACE, workspace);
    backward_arguments.emplace_back(DNNL_ARG_WORKSPACE, workspace);
  }
  forward_ = Call(PoolForward(forward), std::move(forward_arguments));
  backward_ = Call(PoolBackward(backward), std::move(backward_arguments));
}

void OneDnnPool2d::forward(const ForwardArgs& args) {
  const OneThread one_thread;
  x_.bind(context_, args.x.data);
  y_.bind(context_, args.y.data);
  forward_.run(context_);
}

void OneDnnPool2d::backward(const BackwardArgs& args) {
  if (args.dx == nullptr) return;
  const OneThread one_thread;
  dy_.bind(context_, args.dy.data);
  dx_.bind(context_, args.dx->data);
  backward_.run(context_);
  dx_.finish(context_);
}

}  // namespace

std::unique_ptr<Op> make_onednn_pool2d(const dnnl::engine& engine, const Pool2dSpec& spec,
                                       const TensorDesc& input, const Shape& output) {
  using dnnl::algorithm;
  const auto kind =
      spec.kind == Pool2dSpec::Kind::max ? algorithm::pooling_max : algorithm::pooling_avg_exclude_padding;
  const auto size = [](std::size_t value) { return static_cast<dnnl::memory::dim>(value); };
  const dnnl::memory::dims strides(2, size(spec.stride)), kernel(2, size(spec.kernel)), zero(2, 0);
  const auto x = desc_of(input), y = any_desc(dims_of(output));
  const auto forward = describe<PoolForward>(engine, attributes(false), dnnl::prop_kind::forward_training,
                                             kind, x, y, strides, kernel, zero, zero, zero);
  const auto backward = describe_backward<PoolBackward>(
      engine, attributes(false), forward, kind, x, forward.dst_desc(), strides, kernel, zero, zero, zero);
  return std::make_unique<OneDnnPool2d>(engine, forward, backward);
}

}  // namespace thalweg::gpu::host
