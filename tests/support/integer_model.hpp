#pragma once

#include "models/dataset.hpp"

#include <thalweg/model.hpp>

#include <memory>

/// A model and a data set made for counting: the gradient of sample i is a vector of small integers that
/// depends on i alone, so that every fp32 sum of them is exact and any two correct trees must agree bit for
/// bit.
namespace thalweg::testing {

class IntegerModel : public Model {
 public:
  explicit IntegerModel(std::size_t count = 500, std::size_t input_size = 1, std::size_t classes = 2);

  [[nodiscard]] std::span<const Slot> slots() const override { return slots_; }
  [[nodiscard]] std::size_t input_size() const override { return input_size_; }
  [[nodiscard]] std::size_t classes() const override { return classes_; }
  void initialize(std::span<float> parameters, std::uint64_t seed) const override;
  Result<Score> step(const Input& input, std::span<const float> parameters, std::span<float> gradient_sum,
                     const SlotReady& ready) override;
  Result<Score> evaluate(const Input& input, std::span<const float> parameters) override;

  /// Number `i` of a slot's gradient for this sample: an integer in [-3, 3].
  static int gradient_of(std::uint64_t sample, std::size_t i) {
    return static_cast<int>((sample * 31 + i * 17) % 7) - 3;
  }

 private:
  std::vector<Slot> slots_;
  std::size_t input_size_;
  std::size_t classes_;
};

/// `count` samples of one number each: their own index.
models::DatasetPair make_index_data(std::uint64_t count);

}  // namespace thalweg::testing
