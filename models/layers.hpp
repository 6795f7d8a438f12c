#pragma once

#include "gpu/ops.hpp"

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

/// A network as data: a chain of layers, each with a name (PyTorch's, the prefix of its tensors' names).
/// Which kernels run it is the device's business.
namespace thalweg::models {

struct ConvLayer {
  std::string name;
  gpu::Conv2dSpec spec;
};
struct LinearLayer {
  std::string name;
  gpu::LinearSpec spec;
};
struct PoolLayer {
  gpu::Pool2dSpec spec;
};
struct ReluLayer {};

using Layer = std::variant<ConvLayer, LinearLayer, PoolLayer, ReluLayer>;

struct NetworkSpec {
  std::string name;                ///< "lenet5"
  std::vector<std::size_t> input;  ///< shape of one sample, [C, H, W] or [features]
  std::size_t classes = 0;
  std::vector<Layer> layers;  ///< the last one has `classes` outputs, without activation
};

}  // namespace thalweg::models
