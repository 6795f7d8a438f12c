#include "tests/support/integer_model.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace thalweg::testing {

namespace {

class IndexData final : public models::Dataset {
 public:
  explicit IndexData(std::uint64_t count) : count_(count) {}
  [[nodiscard]] std::uint64_t size() const override { return count_; }
  [[nodiscard]] std::span<const std::size_t> sample_shape() const override { return shape_; }
  [[nodiscard]] std::size_t classes() const override { return 2; }
  void read(std::span<const std::uint32_t> indices, BatchData& batch) const override {
    batch.features.clear();
    batch.labels.clear();
    batch.samples.clear();
    for (const auto index : indices) {
      batch.features.push_back(static_cast<float>(index));
      batch.labels.push_back(static_cast<std::int32_t>(index % 2));
      batch.samples.push_back(index);
    }
  }

 private:
  std::uint64_t count_;
  std::array<std::size_t, 1> shape_{1};
};

}  // namespace

IntegerModel::IntegerModel(std::size_t count, std::size_t input_size, std::size_t classes)
    : input_size_(input_size), classes_(classes) {
  slots_.push_back({"first", {count}, 0, count, true});
  slots_.push_back({"second", {3}, (count + 15) / 16 * 16, 3, true});
}

void IntegerModel::initialize(std::span<float> parameters, std::uint64_t seed) const {
  for (const auto& slot : slots_) {
    for (std::size_t i = 0; i < slot.count; ++i) {
      parameters[slot.offset + i] = static_cast<float>((seed + i) % 11) * 0.125F;
    }
  }
}

Result<Score> IntegerModel::step(const Input& input, std::span<const float> /*parameters*/,
                                 std::span<float> gradient_sum, const SlotReady& ready) {
  std::fill(gradient_sum.begin(), gradient_sum.end(), 0.0F);
  for (std::size_t at = slots_.size(); at-- > 0;) {
    for (const auto sample : input.samples) {
      for (std::size_t i = 0; i < slots_[at].count; ++i) {
        gradient_sum[slots_[at].offset + i] += static_cast<float>(gradient_of(sample, i));
      }
    }
    ready(at);
  }
  return Score{static_cast<double>(input.count()), 0, input.count()};
}

Result<Score> IntegerModel::evaluate(const Input& input, std::span<const float> /*parameters*/) {
  return Score{0, 0, input.count()};
}

models::DatasetPair make_index_data(std::uint64_t count) {
  return {std::make_shared<IndexData>(count), std::make_shared<IndexData>(8)};
}

}  // namespace thalweg::testing
