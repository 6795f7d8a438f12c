#include "models/network.hpp"

#include "gpu/flat.hpp"
#include "models/execution.hpp"
#include "models/layout.hpp"
#include "runtime/check.hpp"
#include "runtime/time/random.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace thalweg::models {
namespace {

/// Samples per forward pass of an evaluation: enough to fill the caches, little enough to need no memory.
constexpr std::size_t evaluation_batch_max = 256;
/// Batch sizes held ready. A run meets few: the usual one, the last of an epoch, those of an evaluation.
constexpr std::size_t executions_max = 8;

class Network final : public Model {
 public:
  Network(NetworkSpec spec, NetworkLayout layout, gpu::Device& device, gpu::Stream& stream)
      : spec_(std::move(spec)),
        layout_(std::move(layout)),
        device_(device),
        stream_(stream),
        input_size_(
            std::accumulate(spec_.input.begin(), spec_.input.end(), std::size_t{1}, std::multiplies<>())) {}

  std::span<const Slot> slots() const override { return layout_.slots; }
  std::size_t input_size() const override { return input_size_; }
  std::size_t classes() const override { return spec_.classes; }

  void initialize(std::span<float> parameters, std::uint64_t seed) const override;
  Result<Score> step(const Input& input, std::span<const float> parameters, std::span<float> gradient_sum,
                     const SlotReady& ready) override;
  Result<Score> evaluate(const Input& input, std::span<const float> parameters) override;

 private:
  void check(const Input& input, std::size_t parameters) const;
  void zero_padding(std::span<float> flat) const;
  Result<Execution*> execution_for(Execution::Options options);

  NetworkSpec spec_;
  NetworkLayout layout_;
  gpu::Device& device_;
  gpu::Stream& stream_;
  std::size_t input_size_;
  std::vector<std::unique_ptr<Execution>> executions_;  ///< the last used first
};

/// PyTorch's default for Conv2d and Linear: kaiming_uniform with a = sqrt(5), which comes to
/// U(-1/sqrt(fan_in), 1/sqrt(fan_in)), for weights and biases alike.
void Network::initialize(std::span<float> parameters, std::uint64_t seed) const {
  THALWEG_CHECK(parameters.size() == flat_size(layout_.slots), "a flat vector has the size of its slots");
  zero_padding(parameters);
  for (const LayerLayout& layer : layout_.layers) {
    if (!layer.weight_slot) continue;
    const auto bound = static_cast<float>(1.0 / std::sqrt(static_cast<double>(layer.fan_in)));
    for (std::size_t index = *layer.weight_slot; index <= *layer.weight_slot + 1; ++index) {
      const Slot& slot = layout_.slots[index];
      Random random(seed, RandomStream::weights, index);
      for (float& value : parameters.subspan(slot.offset, slot.count)) value = random.uniform(-bound, bound);
    }
  }
}

Result<Score> Network::step(const Input& input, std::span<const float> parameters,
                            std::span<float> gradient_sum, const SlotReady& ready) {
  check(input, parameters.size());
  THALWEG_CHECK(gradient_sum.size() == parameters.size(), "gradient and parameters have the same layout");
  const auto execution = execution_for({.batch = input.count(), .training = true});
  if (!execution) return execution.error();
  zero_padding(gradient_sum);
  return (*execution)->run(stream_, input, parameters, Execution::Gradient{gradient_sum, ready});
}

Result<Score> Network::evaluate(const Input& input, std::span<const float> parameters) {
  check(input, parameters.size());
  Score score;
  for (std::size_t begin = 0; begin < input.count(); begin += evaluation_batch_max) {
    const std::size_t count = std::min(evaluation_batch_max, input.count() - begin);
    const auto execution = execution_for({.batch = count, .training = false});
    if (!execution) return execution.error();
    const Input part{input.features.subspan(begin * input_size_, count * input_size_),
                     input.labels.subspan(begin, count),
                     {}};
    score += (*execution)->run(stream_, part, parameters, std::nullopt);
  }
  return score;
}

void Network::check(const Input& input, std::size_t parameters) const {
  THALWEG_CHECK(parameters == flat_size(layout_.slots), "a flat vector has the size of its slots");
  THALWEG_CHECK(input.count() > 0 && input.features.size() == input.count() * input_size_,
                "a batch has the features of each of its samples");
}

/// Only what lies between the slots: the rest is overwritten anyway.
void Network::zero_padding(std::span<float> flat) const {
  for (std::size_t i = 0; i < layout_.slots.size(); ++i) {
    const std::size_t end = layout_.slots[i].offset + layout_.slots[i].count;
    const std::size_t next = i + 1 < layout_.slots.size() ? layout_.slots[i + 1].offset : flat.size();
    std::fill(flat.begin() + static_cast<std::ptrdiff_t>(end),
              flat.begin() + static_cast<std::ptrdiff_t>(next), 0.0F);
  }
}

Result<Execution*> Network::execution_for(Execution::Options options) {
  const auto same = [&](const auto& it) {
    return it->options().batch == options.batch && it->options().training == options.training;
  };
  auto found = std::find_if(executions_.begin(), executions_.end(), same);
  if (found == executions_.end()) {
    auto made = Execution::make(spec_, layout_, device_, options);
    if (!made) return made.error();
    if (executions_.size() == executions_max) executions_.pop_back();
    executions_.push_back(std::move(*made));
    found = std::prev(executions_.end());
  }
  std::rotate(executions_.begin(), found, std::next(found));
  return executions_.front().get();
}

}  // namespace

Result<std::vector<Slot>> layout_of(const NetworkSpec& spec) {
  auto layout = lay_out(spec);
  if (!layout) return layout.error();
  return std::move(layout->slots);
}

Result<std::unique_ptr<Model>> make_network(const NetworkSpec& spec, gpu::Device& device,
                                            gpu::Stream& stream) {
  auto layout = lay_out(spec);
  if (!layout) return layout.error();
  return std::unique_ptr<Model>(std::make_unique<Network>(spec, std::move(*layout), device, stream));
}

}  // namespace thalweg::models
