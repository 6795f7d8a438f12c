#pragma once

#include "gpu/ops.hpp"

#include <thalweg/result.hpp>

#include <string>

/// What comes out of an op, from what goes in: the one place that knows which kernels, paddings and inputs
/// fit together. Every device asks it before making an op, and so does the network when it lays out its
/// layers.
namespace thalweg::gpu {

/// "64x1x28x28"
std::string text_of(const Shape& shape);

/// All fail with `invalid`, in words, when the two do not fit together.
Result<Shape> output_shape(const Conv2dSpec& spec, const Shape& input);
Result<Shape> output_shape(const LinearSpec& spec, const Shape& input);
/// Windows that would reach past the edge are left out, as PyTorch does.
Result<Shape> output_shape(const Pool2dSpec& spec, const Shape& input);

/// Requires nothing of relu's input but that there is one; of the loss's that it is [N, classes].
Status check_relu_input(const Shape& input);
Status check_loss_input(const Shape& logits);

}  // namespace thalweg::gpu
