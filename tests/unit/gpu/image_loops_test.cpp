#include "gpu/host/isa_kernels.hpp"
#include "tests/unit/gpu/op_run.hpp"

#include <gtest/gtest.h>

/// The image loops of every instruction set against each other: the parity test only reaches the best one.
namespace thalweg::gpu::host {
namespace {

using testing::Poisoned;
using testing::random_values;
using testing::relative_distance;
using testing::Values;

struct ImageLoops : ::testing::TestWithParam<std::size_t> {
  const ImageKernels& kernels = isa_kernels(GetParam()).image;
  const ImageKernels& baseline = isa_kernels(0).image;
};

TEST_P(ImageLoops, PoolingIsTheSameBitsEverywhere) {
  for (const std::size_t lanes : {1U, 3U, 8U, 16U, 24U, 32U}) {
    for (const std::size_t stride : {1U, 2U, 3U}) {
      const PoolShape shape{3, 8, 6, lanes, (8 - 2) / stride + 1, (6 - 2) / stride + 1, 2, stride};
      const auto inputs = 3 * 8 * 6 * lanes, outputs = 3 * shape.out_height * shape.out_width * lanes;
      const auto x = random_values(inputs, 1), dy = random_values(outputs, 2);
      const auto run = [&](const ImageKernels& with) {
        const Poisoned most(outputs), mean(outputs), dx_most(inputs), dx_mean(inputs);
        with.max_pool(shape, x.data(), most.data());
        with.average_pool(shape, x.data(), mean.data());
        with.max_pool_backward(shape, x.data(), most.data(), dy.data(), dx_most.data());
        with.average_pool_backward(shape, dy.data(), dx_mean.data());
        for (const auto* memory : {&most, &mean, &dx_most, &dx_mean}) EXPECT_TRUE(memory->tail_untouched());
        return std::vector<Values>{most.values(), mean.values(), dx_most.values(), dx_mean.values()};
      };
      EXPECT_EQ(run(kernels), run(baseline)) << lanes << " lanes, stride " << stride;
    }
  }
}

TEST_P(ImageLoops, WeightsOfAFirstConvolution) {
  for (const std::size_t lanes : {8U, 16U}) {
    for (const std::size_t kernel : {1U, 2U, 3U, 5U, 7U, 11U}) {
      const ImageConvShape shape{2,      13, 12, 2, lanes, (13 - kernel) / 2 + 1, (12 - kernel) / 2 + 1,
                                 kernel, 2};
      const auto pixels = shape.out_height * shape.out_width;
      const auto x = random_values(2 * 13 * 12, 1), y = random_values(2 * pixels * lanes, 2),
                 dy = random_values(2 * pixels * lanes, 3);
      Values masked = dy, dweight(2 * 2 * kernel * kernel * lanes), dbias(2 * lanes);
      kernels.conv_bias(shape, y.data(), masked.data(), dbias.data());
      kernels.conv_weights(shape, x.data(), masked.data(), dweight.data());

      Values expected_weight(dweight.size()), expected_bias(dbias.size());
      for (std::size_t block = 0; block < 2; ++block) {
        for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
          for (std::size_t lane = 0; lane < lanes; ++lane) {
            const auto at = (block * pixels + pixel) * lanes + lane;
            const float gradient = y[at] > 0 ? dy[at] : 0;
            EXPECT_EQ(masked[at], gradient);
            expected_bias[block * lanes + lane] += gradient;
            for (std::size_t i = 0; i < 2 * kernel * kernel; ++i) {
              const auto channel = i / (kernel * kernel), kh = i / kernel % kernel, kw = i % kernel;
              const auto row = pixel / shape.out_width * 2 + kh, column = pixel % shape.out_width * 2 + kw;
              expected_weight[(block * 2 * kernel * kernel + i) * lanes + lane] +=
                  gradient * x[(channel * 13 + row) * 12 + column];
            }
          }
        }
      }
      EXPECT_LE(relative_distance(dweight, expected_weight), 1e-6) << "kernel " << kernel;
      EXPECT_LE(relative_distance(dbias, expected_bias), 1e-6) << "kernel " << kernel;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryInstructionSet, ImageLoops, ::testing::Range(std::size_t{0}, isa_count()),
                         [](const auto& tested) { return std::string(isa_kernels(tested.param).name); });

}  // namespace
}  // namespace thalweg::gpu::host
