#include "gpu/op_shapes.hpp"

#include <fmt/format.h>

namespace thalweg::gpu {
namespace {

Error misfit(std::string op, const Shape& input, std::string_view why) {
  return {ErrorCode::invalid, fmt::format("{} on an input of {}: {}", op, text_of(input), why)};
}

std::string name_of(const Conv2dSpec& spec) {
  return fmt::format("conv2d with {} channels, kernel {}, stride {}, padding {}", spec.out_channels,
                     spec.kernel, spec.stride, spec.padding);
}

std::string name_of(const Pool2dSpec& spec) {
  return fmt::format("{} pooling with kernel {}, stride {}",
                     spec.kind == Pool2dSpec::Kind::max ? "max" : "average", spec.kernel, spec.stride);
}

/// One output dimension of a sliding window; 0: the window does not fit.
std::size_t steps(std::size_t size, std::size_t kernel, std::size_t stride, std::size_t padding) {
  const auto padded = size + 2 * padding;
  return padded < kernel ? 0 : (padded - kernel) / stride + 1;
}

}  // namespace

std::string text_of(const Shape& shape) {
  std::string text;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    text += fmt::format("{}{}", axis == 0 ? "" : "x", shape[axis]);
  }
  return text.empty() ? "nothing" : text;
}

Result<Shape> output_shape(const Conv2dSpec& spec, const Shape& input) {
  if (input.rank() != 4 || input.count() == 0) {
    return misfit(name_of(spec), input, "it needs [N, C, H, W], none of them 0");
  }
  if (spec.out_channels == 0 || spec.kernel == 0 || spec.stride == 0) {
    return misfit(name_of(spec), input, "channels, kernel and stride must be at least 1");
  }
  if (spec.padding >= spec.kernel) {
    return misfit(name_of(spec), input, "some windows would see padding only: use less padding");
  }
  const auto rows = steps(input[2], spec.kernel, spec.stride, spec.padding);
  const auto columns = steps(input[3], spec.kernel, spec.stride, spec.padding);
  if (rows == 0 || columns == 0) {
    return misfit(name_of(spec), input, "the kernel is larger than the padded input: use a smaller kernel");
  }
  return Shape{input[0], spec.out_channels, rows, columns};
}

Result<Shape> output_shape(const LinearSpec& spec, const Shape& input) {
  const auto name = fmt::format("linear with {} outputs", spec.out_features);
  if ((input.rank() != 2 && input.rank() != 4) || input.count() == 0) {
    return misfit(name, input, "it needs [N, features] or [N, C, H, W], none of them 0");
  }
  if (spec.out_features == 0) return misfit(name, input, "it needs at least 1 output");
  return Shape{input[0], spec.out_features};
}

Result<Shape> output_shape(const Pool2dSpec& spec, const Shape& input) {
  if (input.rank() != 4 || input.count() == 0) {
    return misfit(name_of(spec), input, "it needs [N, C, H, W], none of them 0");
  }
  if (spec.kernel == 0 || spec.stride == 0) {
    return misfit(name_of(spec), input, "kernel and stride must be at least 1");
  }
  const auto rows = steps(input[2], spec.kernel, spec.stride, 0);
  const auto columns = steps(input[3], spec.kernel, spec.stride, 0);
  if (rows == 0 || columns == 0) {
    return misfit(name_of(spec), input, "the window is larger than the input: use a smaller one");
  }
  return Shape{input[0], input[1], rows, columns};
}

Status check_relu_input(const Shape& input) {
  if ((input.rank() != 2 && input.rank() != 4) || input.count() == 0) {
    return misfit("relu", input, "it needs [N, features] or [N, C, H, W], none of them 0");
  }
  return {};
}

Status check_loss_input(const Shape& logits) {
  if (logits.rank() != 2 || logits.count() == 0) {
    return misfit("softmax and cross-entropy", logits, "it needs [N, classes], none of them 0");
  }
  return {};
}

}  // namespace thalweg::gpu
