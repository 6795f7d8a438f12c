#include "models/dataset.hpp"
#include "runtime/check.hpp"
#include "runtime/time/random.hpp"

#include <numeric>
#include <utility>

namespace thalweg::models {
namespace {

/// A standard normal number from one draw: the sum of its eight bytes, centred and scaled. The sum of twelve
/// uniforms (`Random::normal`) would take twelve draws, and 784 of those a sample: half as long as training
/// LeNet-5 on it.
float normal_of(std::uint64_t bits) {
  constexpr float mean = 8 * 127.5F;
  constexpr float deviation = 209.021F;  // sqrt(8 (256² - 1) / 12)
  int sum = 0;
  for (int byte = 0; byte < 8; ++byte) sum += static_cast<int>(bits >> (8 * byte) & 0xff);
  return (static_cast<float>(sum) - mean) / deviation;
}

class Synthetic final : public Dataset {
 public:
  explicit Synthetic(SyntheticOptions options)
      : options_(std::move(options)),
        sample_size_(std::accumulate(options_.shape.begin(), options_.shape.end(), std::size_t{1},
                                     [](std::size_t a, std::size_t b) { return a * b; })),
        centres_(options_.classes * sample_size_) {
    for (std::size_t label = 0; label < options_.classes; ++label) {
      Random random(options_.seed, RandomStream::synthetic, label);
      for (std::size_t i = 0; i < sample_size_; ++i)
        centres_[label * sample_size_ + i] = normal_of(random.bits());
    }
  }

  std::uint64_t size() const override { return options_.samples; }
  std::span<const std::size_t> sample_shape() const override { return options_.shape; }
  std::size_t classes() const override { return options_.classes; }

  void read(std::span<const std::uint32_t> indices, BatchData& batch) const override {
    batch.features.resize(indices.size() * sample_size_);
    batch.labels.resize(indices.size());
    batch.samples.resize(indices.size());
    const auto noise = static_cast<float>(options_.noise);
    float* to = batch.features.data();
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const std::uint32_t index = indices[i];
      THALWEG_CHECK(index < options_.samples, "a sample's index lies inside its data set");
      const std::size_t label = index % options_.classes;
      Random random(options_.seed, RandomStream::synthetic, sample_key(index));
      for (const float centre : std::span(centres_).subspan(label * sample_size_, sample_size_)) {
        *to++ = centre + noise * normal_of(random.bits());
      }
      batch.labels[i] = static_cast<std::int32_t>(label);
      batch.samples[i] = index;
    }
  }

 private:
  /// Apart from the keys of the centres, which are the classes themselves, and from those of other parts.
  [[nodiscard]] std::uint64_t sample_key(std::uint32_t index) const {
    return (options_.part + 1) << 32 | index;
  }

  SyntheticOptions options_;
  std::size_t sample_size_;
  std::vector<float> centres_;
};

}  // namespace

std::shared_ptr<const Dataset> make_synthetic(const SyntheticOptions& options) {
  THALWEG_CHECK(options.classes > 0, "made data have at least one class");
  return std::make_shared<Synthetic>(options);
}

}  // namespace thalweg::models
