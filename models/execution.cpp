#include "models/execution.hpp"

#include "gpu/flat.hpp"
#include "models/arena.hpp"
#include "runtime/check.hpp"

#include <fmt/format.h>

namespace thalweg::models {
namespace {

Result<std::unique_ptr<gpu::Op>> make_op(const Layer& layer, gpu::Device& device, const gpu::TensorDesc& x) {
  struct Maker {
    gpu::Device& device;
    const gpu::TensorDesc& x;
    Result<std::unique_ptr<gpu::Op>> operator()(const ConvLayer& it) { return device.conv2d(it.spec, x); }
    Result<std::unique_ptr<gpu::Op>> operator()(const LinearLayer& it) { return device.linear(it.spec, x); }
    Result<std::unique_ptr<gpu::Op>> operator()(const PoolLayer& it) { return device.pool2d(it.spec, x); }
    Result<std::unique_ptr<gpu::Op>> operator()(const ReluLayer&) { return device.relu(x); }
  };
  return std::visit(Maker{device, x}, layer);
}

std::size_t floats_of(const gpu::TensorDesc& desc) {
  return (desc.bytes + sizeof(float) - 1) / sizeof(float);
}

}  // namespace

Result<std::unique_ptr<Execution>> Execution::make(const NetworkSpec& spec, const NetworkLayout& layout,
                                                   gpu::Device& device, Options options) {
  std::unique_ptr<Execution> execution(new Execution(options));
  if (const auto status = execution->make_ops(spec, layout, device); !status) return status.error();
  execution->place_tensors(device);
  return execution;
}

Status Execution::make_ops(const NetworkSpec& spec, const NetworkLayout& layout, gpu::Device& device) {
  const auto in_context = [&](const std::string& title, const Error& error) {
    return Error{error.code,
                 fmt::format("network {}, batch {}: {}: {}", spec.name, options_.batch, title, error.text)};
  };
  input_.desc = gpu::TensorDesc::plain(batch_shape(options_.batch, spec.input));
  const gpu::TensorDesc* x = &input_.desc;
  nodes_.reserve(spec.layers.size());
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    const LayerLayout& at = layout.layers[i];
    auto op = make_op(spec.layers[i], device, *x);
    if (!op) return in_context(at.title, op.error());
    Node& node = nodes_.emplace_back();
    node.op = std::move(*op);
    node.y.desc = node.op->output();
    node.dy.desc = node.y.desc;
    THALWEG_CHECK(node.y.desc.shape.count() == options_.batch * at.output.count(),
                  "device and layout agree on shapes");
    if (at.weight_slot) {
      node.weight_slot = at.weight_slot;
      node.weight_offset = layout.slots[*at.weight_slot].offset;
      node.bias_offset = layout.slots[*at.weight_slot + 1].offset;
    }
    x = &node.y.desc;
  }
  auto loss = device.softmax_cross_entropy(*x);
  if (!loss) return in_context("loss", loss.error());
  loss_ = std::move(*loss);
  return {};
}

/// Time in steps: 0 the input is there; i + 1 forward of layer i; n + 1 the loss; 2n + 1 - i backward of
/// layer i.
void Execution::place_tensors(gpu::Device& device) {
  const std::size_t n = nodes_.size();
  const bool training = options_.training;
  std::vector<Lifetime> lifetimes;
  lifetimes.push_back({floats_of(input_.desc), 0, training ? 2 * n + 1 : 1});
  for (std::size_t i = 0; i < n; ++i) {
    lifetimes.push_back({floats_of(nodes_[i].y.desc), i + 1, training ? 2 * n + 1 - i : i + 2});
  }
  for (std::size_t i = 0; training && i < n; ++i) {
    lifetimes.push_back({floats_of(nodes_[i].dy.desc), 2 * n - i, 2 * n + 1 - i});
  }
  const ArenaPlan plan = plan_arena(lifetimes);
  arena_ = device.make_pool(plan.floats, 1)->take();
  float* const base = arena_->values().data();
  input_.data = base + plan.offsets[0];
  for (std::size_t i = 0; i < n; ++i) {
    nodes_[i].y.data = base + plan.offsets[1 + i];
    if (training) nodes_[i].dy.data = base + plan.offsets[1 + n + i];
  }
}

Score Execution::run(gpu::Stream& stream, const Input& input, std::span<const float> parameters,
                     std::optional<Gradient> gradient) {
  THALWEG_CHECK(input.count() == options_.batch, "an execution runs batches of its own size");
  THALWEG_CHECK(!gradient || options_.training, "gradients need an execution made for training");
  gpu::copy({input_.data, input.features.size()}, input.features);
  forward(stream, parameters, gradient.has_value());
  Node& last = nodes_.back();
  const Score score = loss_->run(stream, last.y, input.labels.data(), gradient ? &last.dy : nullptr);
  if (gradient) backward(stream, parameters, *gradient);
  return score;
}

void Execution::forward(gpu::Stream& stream, std::span<const float> parameters, bool training) {
  const gpu::Tensor* x = &input_;
  for (Node& node : nodes_) {
    gpu::ForwardArgs args{.stream = stream, .x = *x, .y = node.y, .training = training};
    if (node.weight_slot) {
      args.weight = parameters.data() + node.weight_offset;
      args.bias = parameters.data() + node.bias_offset;
    }
    node.op->forward(args);
    x = &node.y;
  }
}

void Execution::backward(gpu::Stream& stream, std::span<const float> parameters, const Gradient& gradient) {
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    Node& node = nodes_[i];
    const gpu::Tensor& x = i == 0 ? input_ : nodes_[i - 1].y;
    gpu::BackwardArgs args{.stream = stream, .x = x, .y = node.y, .dy = node.dy};
    args.dx = i == 0 ? nullptr : &nodes_[i - 1].dy;
    if (node.weight_slot) {
      args.weight = parameters.data() + node.weight_offset;
      args.dweight = gradient.sum.data() + node.weight_offset;
      args.dbias = gradient.sum.data() + node.bias_offset;
    }
    node.op->backward(args);
    if (node.weight_slot && gradient.ready) {
      gradient.ready(*node.weight_slot + 1);
      gradient.ready(*node.weight_slot);
    }
  }
}

}  // namespace thalweg::models
