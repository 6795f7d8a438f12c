#pragma once

#include "gpu/tensor.hpp"
#include "models/layers.hpp"

#include <thalweg/model.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

/// The shapes of a network, worked out from its spec before any op is made: which layer has which slots of
/// the flat vector, and whether the layers fit together.
namespace thalweg::models {

struct LayerLayout {
  std::string title;                       ///< how errors name it: "conv1", or "layer 2"
  gpu::Shape output;                       ///< of a batch of one
  std::optional<std::size_t> weight_slot;  ///< index in the slots; the bias is the next one
  std::size_t fan_in = 0;                  ///< inputs that one output sums over; 0 without parameters
};

struct NetworkLayout {
  std::vector<LayerLayout> layers;  ///< as the spec's
  std::vector<Slot> slots;
};

/// Fails: `invalid`, naming the network and the layer.
Result<NetworkLayout> lay_out(const NetworkSpec& spec);

/// The shape of `batch` samples of `sample` shape, [C, H, W] or [features].
gpu::Shape batch_shape(std::size_t batch, const std::vector<std::size_t>& sample);

}  // namespace thalweg::models
