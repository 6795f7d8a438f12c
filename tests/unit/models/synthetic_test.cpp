#include "models/dataset.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace thalweg::models {
namespace {

using testing::ElementsAre;

std::vector<float> features(const Dataset& dataset, std::vector<std::uint32_t> indices) {
  BatchData batch;
  dataset.read(indices, batch);
  return batch.features;
}

TEST(Synthetic, IsAFunctionOfSeedPartAndIndex) {
  const SyntheticOptions options{.samples = 40, .classes = 4, .shape = {1, 3, 3}, .seed = 7};
  const auto one = make_synthetic(options);
  const auto other = make_synthetic(options);
  EXPECT_EQ(features(*one, {5, 17}), features(*other, {5, 17}));

  const auto alone = features(*one, {17});
  auto pair = features(*one, {5, 17});
  EXPECT_TRUE(std::equal(alone.begin(), alone.end(), pair.begin() + 9))
      << "a sample's neighbours change nothing";
  EXPECT_NE(features(*one, {5}), features(*one, {9})) << "samples of a class differ";

  SyntheticOptions changed = options;
  changed.part = 1;
  EXPECT_NE(features(*one, {5}), features(*make_synthetic(changed), {5}));
  changed = options;
  changed.seed = 8;
  EXPECT_NE(features(*one, {5}), features(*make_synthetic(changed), {5}));
}

TEST(Synthetic, DescribesItself) {
  const auto dataset = make_synthetic({.samples = 40, .classes = 4, .shape = {2, 3, 5}});
  EXPECT_EQ(dataset->size(), 40U);
  EXPECT_EQ(dataset->classes(), 4U);
  EXPECT_THAT(dataset->sample_shape(), ElementsAre(2, 3, 5));
  BatchData batch;
  dataset->read(std::vector<std::uint32_t>{0, 5, 39}, batch);
  EXPECT_THAT(batch.labels, ElementsAre(0, 1, 3));
  EXPECT_THAT(batch.samples, ElementsAre(0, 5, 39));
  EXPECT_EQ(batch.features.size(), 90U);
}

TEST(Synthetic, PartsShareTheirCentres) {
  SyntheticOptions options{.samples = 4, .classes = 4, .shape = {1, 4, 4}, .noise = 0};
  const auto train = make_synthetic(options);
  options.part = 1;
  const auto test = make_synthetic(options);
  EXPECT_EQ(features(*train, {0, 1, 2, 3}), features(*test, {0, 1, 2, 3}));
  EXPECT_NE(features(*train, {0}), features(*train, {1}));
}

TEST(Synthetic, NoiseHasItsDeviation) {
  SyntheticOptions options{.samples = 1, .classes = 1, .shape = {1, 100, 100}, .noise = 0};
  const auto centre = features(*make_synthetic(options), {0});
  options.noise = 0.5;
  const auto noisy = features(*make_synthetic(options), {0});
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < noisy.size(); ++i) {
    const double noise = noisy[i] - centre[i];
    sum += noise;
    squares += noise * noise;
  }
  const auto count = static_cast<double>(noisy.size());
  EXPECT_NEAR(sum / count, 0, 0.02);
  EXPECT_NEAR(std::sqrt(squares / count), 0.5, 0.02);
}

}  // namespace
}  // namespace thalweg::models
