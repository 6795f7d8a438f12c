#pragma once

#include "gpu/device.hpp"
#include "models/layers.hpp"

#include <thalweg/model.hpp>

#include <memory>

/// A NetworkSpec made to run: the built-in implementation of `Model`. It owns the activations and, per batch
/// size it has met, the op objects (the last batch of an epoch is smaller). Between the worker, which calls
/// `step` on its stream's thread, and the device's ops.
namespace thalweg::models {

/// The flat vector of `spec`: weight and bias per layer with parameters, in forward order, each at the next
/// multiple of 16 floats.
/// Fails: `invalid` when shapes do not fit together, naming the layer.
Result<std::vector<Slot>> layout_of(const NetworkSpec& spec);

/// Requires: `device` outlives the model. `stream` is only handed on to ops; `step` and `evaluate` must be
/// called on its thread.
/// Fails: `invalid` as `layout_of`.
Result<std::unique_ptr<Model>> make_network(const NetworkSpec& spec, gpu::Device& device,
                                            gpu::Stream& stream);

}  // namespace thalweg::models
