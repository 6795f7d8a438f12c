#include "gpu/host/onednn_weighted.hpp"

#include "gpu/host/onednn_layout.hpp"

namespace thalweg::gpu::host {
namespace {

using Direction = Operand::Direction;

dnnl::memory::desc query(const dnnl::primitive_desc& primitive, dnnl::query what) {
  return primitive.query_md(what, 0);
}

/// Adds the scratch memory a primitive wants, if any, to its arguments and makes the call.
Call make_call(const Context& context, const Scratch& scratch, const dnnl::primitive_desc& primitive,
               Call::Arguments arguments) {
  const auto wanted = primitive.scratchpad_desc();
  if (wanted.get_size() > 0) arguments.emplace_back(DNNL_ARG_SCRATCHPAD, scratch.memory(context, wanted));
  return {dnnl::primitive(primitive), std::move(arguments)};
}

/// `first` where it already is what the primitive wants, else `own`, newly made from what the caller has.
const Operand& share(const Context& context, const Operand& first, const dnnl::memory::desc& given,
                     const dnnl::memory::desc& wanted, std::optional<Operand>& own) {
  if (first.wanted().get_desc() == wanted) return first;
  own.emplace(context, Direction::in, given, wanted);
  return *own;
}

}  // namespace

OneDnnWeighted::OneDnnWeighted(const dnnl::engine& engine, const WeightedPrimitives& primitives)
    : context_(engine),
      scratch_({primitives.forward.scratchpad_desc(), primitives.backward_data.scratchpad_desc(),
                primitives.backward_weights.scratchpad_desc()}) {
  const auto& [forward, backward_data, backward_weights, x, weight, bias, relu] = primitives;
  const auto y = query(forward, dnnl::query::dst_md);
  output_ = tensor_of(y);

  x_ = Operand(context_, Direction::in, x, query(forward, dnnl::query::src_md));
  weight_ = Operand(context_, Direction::in, weight, query(forward, dnnl::query::weights_md));
  bias_ = Operand(context_, Direction::in, bias, bias);
  y_ = Operand(context_, Direction::out, y, y);
  forward_ = make_call(context_, scratch_, forward,
                       {{DNNL_ARG_SRC, x_.wanted()},
                        {DNNL_ARG_WEIGHTS, weight_.wanted()},
                        {DNNL_ARG_BIAS, bias_.wanted()},
                        {DNNL_ARG_DST, y_.wanted()}});

  dy_ = Operand(context_, Direction::in, y, y);
  if (relu) {
    const auto mask = describe_relu_backward(engine, describe_relu(engine, y), y);
    relu_backward_.emplace(dnnl::eltwise_backward(mask), Call::Arguments{{DNNL_ARG_DST, y_.wanted()},
                                                                         {DNNL_ARG_DIFF_DST, dy_.wanted()},
                                                                         {DNNL_ARG_DIFF_SRC, dy_.wanted()}});
    implementation_ = std::string(mask.impl_info_str()) + ", ";
  }

  const auto& x_again = share(context_, x_, x, query(backward_weights, dnnl::query::src_md), x_again_);
  const auto& dy_weights =
      share(context_, dy_, y, query(backward_weights, dnnl::query::diff_dst_md), dy_weights_);
  dweight_ = Operand(context_, Direction::out, weight, query(backward_weights, dnnl::query::diff_weights_md));
  dbias_ = Operand(context_, Direction::out, bias, bias);
  backward_weights_ = make_call(context_, scratch_, backward_weights,
                                {{DNNL_ARG_SRC, x_again.wanted()},
                                 {DNNL_ARG_DIFF_DST, dy_weights.wanted()},
                                 {DNNL_ARG_DIFF_WEIGHTS, dweight_.wanted()},
                                 {DNNL_ARG_DIFF_BIAS, dbias_.wanted()}});

  const auto& dy_data =
      share(context_, dy_weights, y, query(backward_data, dnnl::query::diff_dst_md), dy_data_);
  const auto& weight_again =
      share(context_, weight_, weight, query(backward_data, dnnl::query::weights_md), weight_again_);
  dx_ = Operand(context_, Direction::out, x, query(backward_data, dnnl::query::diff_src_md));
  backward_data_ = make_call(context_, scratch_, backward_data,
                             {{DNNL_ARG_DIFF_DST, dy_data.wanted()},
                              {DNNL_ARG_WEIGHTS, weight_again.wanted()},
                              {DNNL_ARG_DIFF_SRC, dx_.wanted()}});

  implementation_ += std::string(forward.impl_info_str()) + ", " + backward_data.impl_info_str() + ", " +
                     backward_weights.impl_info_str();
  const auto mention = [this](const Operand& operand) {
    if (operand.reorders()) implementation_ += std::string(", reorder ") + operand.implementation();
  };
  for (const auto* operand : {&x_, &weight_, &dweight_, &dx_}) mention(*operand);
  for (const auto* operand : {&x_again_, &dy_weights_, &dy_data_, &weight_again_}) {
    if (*operand) mention(**operand);
  }
}

void OneDnnWeighted::forward(const ForwardArgs& args) {
  const OneThread one_thread;
  x_.bind(context_, args.x.data);
  weight_.bind(context_, args.weight);
  bias_.bind(context_, args.bias);
  y_.bind(context_, args.y.data);
  forward_.run(context_);
}

void OneDnnWeighted::backward(const BackwardArgs& args) {
  const OneThread one_thread;
  dy_.bind(context_, args.dy.data);
  if (relu_backward_) {
    y_.bind(context_, args.y.data);
    relu_backward_->run(context_);
  }
  if (x_again_) x_again_->bind(context_, args.x.data);
  if (dy_weights_) dy_weights_->bind(context_, args.dy.data);
  dweight_.bind(context_, args.dweight);
  dbias_.bind(context_, args.dbias);
  backward_weights_.run(context_);
  dweight_.finish(context_);

  if (args.dx == nullptr) return;
  if (dy_data_) dy_data_->bind(context_, args.dy.data);
  if (weight_again_) weight_again_->bind(context_, args.weight);
  dx_.bind(context_, args.dx->data);
  backward_data_.run(context_);
  dx_.finish(context_);
}

}  // namespace thalweg::gpu::host
