#pragma once

#include <thalweg/result.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// The network being trained, as the runtime sees it: something that turns a batch and a flat parameter
/// vector into a loss and a flat sum of gradients. Before it stands the feeder, which cuts batches; after
/// it the worker, which sends the gradient up. The built-in networks implement this interface, and so can
/// anyone who embeds the runtime.
namespace thalweg {

/// One named tensor inside the flat parameter vector. Slots are in forward order, start at multiples of
/// 16 floats (64 bytes) and do not overlap; floats between slots stay zero. Convolution weights are OIHW
/// and linear weights [out, in], PyTorch's layouts.
struct Slot {
  std::string name;                ///< PyTorch's name, as "conv1.weight"
  std::vector<std::size_t> shape;  ///< PyTorch's shape
  std::size_t offset = 0;          ///< first float in the flat vector
  std::size_t count = 0;           ///< floats, the product of `shape`
  bool decay = true;               ///< whether weight decay applies
};

/// A batch as a model reads it. The spans live until the call returns.
struct Input {
  std::span<const float> features;  ///< `count()` samples, each of the model's input shape, row-major (CHW)
  std::span<const std::int32_t> labels;    ///< `count()` classes
  std::span<const std::uint64_t> samples;  ///< `count()` indices in the data set, the key of anything random

  [[nodiscard]] std::size_t count() const { return labels.size(); }
};

/// What a batch scored. Additive: the score of a union is the sum of the scores.
struct Score {
  double loss_sum = 0;        ///< sum over samples of the loss, in nats
  std::uint64_t correct = 0;  ///< samples whose largest output is their label
  std::uint64_t samples = 0;

  Score& operator+=(const Score& other) {
    loss_sum += other.loss_sum;
    correct += other.correct;
    samples += other.samples;
    return *this;
  }
};

/// Called when the gradient of the slot with this index is final, last layer first.
using SlotReady = std::function<void(std::size_t slot)>;

/// A network with its own activations. One thread at a time uses a model: its worker's stream. Several
/// workers have a model each, and share parameters.
class Model {
 public:
  virtual ~Model() = default;

  /// The layout of the flat vectors; the same for the whole life of the model.
  [[nodiscard]] virtual std::span<const Slot> slots() const = 0;

  /// Floats of one sample, and the number of classes, that `Input` must match.
  [[nodiscard]] virtual std::size_t input_size() const = 0;
  [[nodiscard]] virtual std::size_t classes() const = 0;

  /// Fills `parameters` (`flat_size(slots())` floats) with initial weights that depend on `seed` alone.
  virtual void initialize(std::span<float> parameters, std::uint64_t seed) const = 0;

  /// Forward and backward over one batch. Overwrites `gradient_sum` with the *sum* over the samples of the
  /// gradient of the loss, padding included (zero).
  /// Requires: both spans hold `flat_size(slots())` floats, 64-byte aligned; 1 <= input.count().
  /// Fails: when the device does. May throw; the worker turns that into a failure with its text.
  virtual Result<Score> step(const Input& input, std::span<const float> parameters,
                             std::span<float> gradient_sum, const SlotReady& ready) = 0;

  /// Forward only, in evaluation mode.
  virtual Result<Score> evaluate(const Input& input, std::span<const float> parameters) = 0;
};

/// Makes one model per worker. Called on the thread that starts the cluster; all models it makes have
/// equal slots.
using ModelFactory = std::function<Result<std::unique_ptr<Model>>()>;

/// Floats in the flat vector of `slots`: the end of the last slot, rounded up to 16 floats.
inline std::size_t flat_size(std::span<const Slot> slots) {
  if (slots.empty()) return 0;
  return (slots.back().offset + slots.back().count + 15) / 16 * 16;
}

/// Parameters proper, without padding.
inline std::size_t parameter_count(std::span<const Slot> slots) {
  std::size_t count = 0;
  for (const auto& slot : slots) count += slot.count;
  return count;
}

}  // namespace thalweg
