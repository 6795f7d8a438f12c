#pragma once

#include "gpu/device.hpp"
#include "models/layers.hpp"
#include "models/layout.hpp"

#include <thalweg/model.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

/// A network made ready for batches of one size: its op objects and the arena that its activations and their
/// gradients live in. `Network` (network.cpp) keeps a few of these; one thread at a time runs them.
namespace thalweg::models {

class Execution {
 public:
  struct Options {
    std::size_t batch = 0;
    bool training = true;  ///< false: forward only, in less memory
  };

  /// Fails: as the device does, naming network, layer and batch.
  static Result<std::unique_ptr<Execution>> make(const NetworkSpec& spec, const NetworkLayout& layout,
                                                 gpu::Device& device, Options options);

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] std::size_t arena_floats() const { return arena_->size(); }

  /// Where `backward` writes and whom it tells.
  struct Gradient {
    std::span<float> sum;  ///< slots are overwritten, padding is left alone
    const SlotReady& ready;
  };

  /// Forward over one batch and, when `gradient` is given, backward.
  /// Requires: `input` holds `options().batch` samples; `gradient` only when made for training.
  Score run(gpu::Stream& stream, const Input& input, std::span<const float> parameters,
            std::optional<Gradient> gradient);

 private:
  struct Node {
    std::unique_ptr<gpu::Op> op;
    std::size_t weight_offset = 0;  ///< in the flat vector; meaningless without `weight_slot`
    std::size_t bias_offset = 0;
    std::optional<std::size_t> weight_slot;
    gpu::Tensor y;
    gpu::Tensor dy;
  };

  explicit Execution(Options options) : options_(options) {}

  Status make_ops(const NetworkSpec& spec, const NetworkLayout& layout, gpu::Device& device);
  void place_tensors(gpu::Device& device);
  void forward(gpu::Stream& stream, std::span<const float> parameters, bool training);
  void backward(gpu::Stream& stream, std::span<const float> parameters, const Gradient& gradient);

  Options options_;
  gpu::Tensor input_;
  std::vector<Node> nodes_;
  std::unique_ptr<gpu::LossOp> loss_;
  std::shared_ptr<gpu::Buffer> arena_;
};

}  // namespace thalweg::models
