#include "models/layout.hpp"

#include "gpu/op_shapes.hpp"
#include "runtime/check.hpp"

#include <fmt/format.h>

#include <utility>

namespace thalweg::models {
namespace {

/// Far past any machine's memory, and far below where products of two such counts wrap around.
constexpr std::size_t count_max = std::size_t{1} << 31;

bool countable(const std::vector<std::size_t>& dims) {
  std::size_t count = 1;
  for (const std::size_t dim : dims) {
    if (dim == 0 || dim > count_max / count) return false;
    count *= dim;
  }
  return true;
}

/// Walks the chain; `shape_` is what the next layer gets, for a batch of one.
class Walk {
 public:
  explicit Walk(const NetworkSpec& spec) : spec_(spec) {}

  Result<NetworkLayout> run();

 private:
  Result<gpu::Shape> add(const ConvLayer& layer, LayerLayout& out);
  Result<gpu::Shape> add(const LinearLayer& layer, LayerLayout& out);
  Result<gpu::Shape> add(const PoolLayer& layer, LayerLayout&) {
    return gpu::output_shape(layer.spec, shape_);
  }
  Result<gpu::Shape> add(const ReluLayer&, LayerLayout&) {
    if (const auto status = gpu::check_relu_input(shape_); !status) return status.error();
    return shape_;
  }

  Status add_slots(const std::string& name, std::vector<std::size_t> weight_shape, LayerLayout& out);
  [[nodiscard]] Error wrong(const std::string& title, const std::string& why) const {
    return {ErrorCode::invalid, fmt::format("network {}: {}: {}", spec_.name, title, why)};
  }

  const NetworkSpec& spec_;
  gpu::Shape shape_;
  NetworkLayout layout_;
};

Result<NetworkLayout> Walk::run() {
  if ((spec_.input.size() != 1 && spec_.input.size() != 3) || !countable(spec_.input)) {
    return wrong("input", fmt::format("samples of [{}]: expected [C, H, W] or [features], none of them 0",
                                      fmt::join(spec_.input, ", ")));
  }
  shape_ = batch_shape(1, spec_.input);
  for (const Layer& layer : spec_.layers) {
    LayerLayout out;
    out.title = fmt::format("layer {}", layout_.layers.size());
    const auto shape = std::visit([&](const auto& it) { return add(it, out); }, layer);
    if (!shape) return wrong(out.title, shape.error().text);
    std::vector<std::size_t> dims;
    for (std::size_t axis = 0; axis < shape->rank(); ++axis) dims.push_back((*shape)[axis]);
    if (!countable(dims))
      return wrong(out.title, fmt::format("an output of {} is too large", gpu::text_of(*shape)));
    shape_ = out.output = *shape;
    layout_.layers.push_back(std::move(out));
  }
  if (shape_ != gpu::Shape{1, spec_.classes} || layout_.layers.empty()) {
    return wrong("the last layer",
                 fmt::format("a sample comes out as {}, expected one number for each of {} classes",
                             gpu::text_of(shape_), spec_.classes));
  }
  return std::move(layout_);
}

Result<gpu::Shape> Walk::add(const ConvLayer& layer, LayerLayout& out) {
  out.title = layer.name;
  auto shape = gpu::output_shape(layer.spec, shape_);
  if (!shape) return shape;
  const std::size_t kernel = layer.spec.kernel;
  const auto status = add_slots(layer.name, {layer.spec.out_channels, shape_[1], kernel, kernel}, out);
  if (!status) return status.error();
  return shape;
}

Result<gpu::Shape> Walk::add(const LinearLayer& layer, LayerLayout& out) {
  out.title = layer.name;
  auto shape = gpu::output_shape(layer.spec, shape_);
  if (!shape) return shape;
  const auto status = add_slots(layer.name, {layer.spec.out_features, shape_.count()}, out);
  if (!status) return status.error();
  return shape;
}

Status Walk::add_slots(const std::string& name, std::vector<std::size_t> weight_shape, LayerLayout& out) {
  if (!countable(weight_shape)) {
    return Error{ErrorCode::invalid,
                 fmt::format("a weight of [{}] is too large", fmt::join(weight_shape, ", "))};
  }
  for (const Slot& slot : layout_.slots) {
    if (slot.name == name + ".weight") return Error{ErrorCode::invalid, "two layers have this name"};
  }
  std::size_t count = 1;
  for (const std::size_t dim : weight_shape) count *= dim;
  const std::size_t outputs = weight_shape.front();
  out.weight_slot = layout_.slots.size();
  out.fan_in = count / outputs;
  layout_.slots.push_back({name + ".weight", std::move(weight_shape), flat_size(layout_.slots), count, true});
  layout_.slots.push_back({name + ".bias", {outputs}, flat_size(layout_.slots), outputs, true});
  return {};
}

}  // namespace

Result<NetworkLayout> lay_out(const NetworkSpec& spec) { return Walk(spec).run(); }

gpu::Shape batch_shape(std::size_t batch, const std::vector<std::size_t>& sample) {
  THALWEG_CHECK(sample.size() == 1 || sample.size() == 3, "a sample is [C, H, W] or [features]");
  return sample.size() == 1 ? gpu::Shape{batch, sample[0]}
                            : gpu::Shape{batch, sample[0], sample[1], sample[2]};
}

}  // namespace thalweg::models
