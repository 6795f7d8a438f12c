#include "models/clip.hpp"

#include "runtime/pool/task_pool.hpp"
#include "runtime/time/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace thalweg::models {
namespace {

TEST(Clip, ScalesTheMeanToTheNormWhereItIsLonger) {
  const std::vector<float> sum = {30, 40};  // of 10 samples: a mean of length 5
  EXPECT_EQ(clip_scale(sum, 10, 0, nullptr), 1) << "0 is no bound";
  EXPECT_EQ(clip_scale(sum, 10, 6, nullptr), 1);
  EXPECT_DOUBLE_EQ(clip_scale(sum, 10, 1, nullptr), 1 / (5 + 1e-6));
  EXPECT_DOUBLE_EQ(clip_scale(sum, 10, 5, nullptr), 5 / (5 + 1e-6)) << "PyTorch's, just below 1";
  EXPECT_EQ(clip_scale({}, 10, 1, nullptr), 1);
  EXPECT_EQ(clip_scale(std::vector<float>(100, 0), 10, 1, nullptr), 1);
}

TEST(Clip, TheLargestFloatsStillHaveANorm) {
  const std::vector<float> sum(4, 3e38F);
  EXPECT_NEAR(clip_scale(sum, 1, 6, nullptr) * 1e38, 1, 1e-6);
}

TEST(Clip, ThePoolChangesNoBit) {
  std::vector<float> sum(300'007);
  Random random(1);
  for (float& value : sum) value = random.uniform(-1.0F, 1.0F);
  const double alone = clip_scale(sum, 8, 0.5, nullptr);
  EXPECT_LT(alone, 1);
  for (const std::size_t threads : {1U, 2U, 3U}) {
    TaskPool pool(threads);
    EXPECT_EQ(clip_scale(sum, 8, 0.5, &pool), alone);
  }
}

}  // namespace
}  // namespace thalweg::models
