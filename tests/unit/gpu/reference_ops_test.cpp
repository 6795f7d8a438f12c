#include "tests/unit/gpu/op_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

/// The reference loops against finite differences: that what they call a gradient is one.
namespace thalweg::gpu {
namespace {

using namespace testing;

struct ReferenceOps : ::testing::Test {
  std::unique_ptr<Device> device = open_host_device({HostOptions::Ops::reference, true});
  std::unique_ptr<Stream> stream = device->open_stream("reference");

  /// Σ dy·y: a function of the inputs whose gradient is what backward computes.
  double value(Op& op, const TensorDesc& input, const OpInputs& in) {
    const auto y = run_op(op, input, *stream, in).y;
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i)
      sum += static_cast<double>(y[i]) * static_cast<double>(in.dy[i]);
    return sum;
  }

  /// Checks every number of `gradient` against moving the input of the same index by `step` both ways.
  void expect_slope(Op& op, const TensorDesc& input, OpInputs in, Values OpInputs::*which,
                    const Values& gradient, float step) {
    ASSERT_EQ(gradient.size(), (in.*which).size());
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const float before = (in.*which)[i];
      (in.*which)[i] = before + step;
      const double above = value(op, input, in);
      (in.*which)[i] = before - step;
      const double below = value(op, input, in);
      (in.*which)[i] = before;
      EXPECT_NEAR((above - below) / (2 * static_cast<double>(step)), gradient[i], 2e-3) << "index " << i;
    }
  }

  void expect_gradients(Op& op, const TensorDesc& input, const OpInputs& in, float step) {
    const auto result = run_op(op, input, *stream, in);
    expect_slope(op, input, in, &OpInputs::x, result.dx, step);
    expect_slope(op, input, in, &OpInputs::weight, result.dweight, step);
    expect_slope(op, input, in, &OpInputs::bias, result.dbias, step);
  }
};

/// Distinct numbers at least 0.1 apart and away from 0, in random order: no step of 0.01 crosses a kink.
Values separated(std::size_t count, unsigned seed) {
  Values values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = (static_cast<float>(i) - static_cast<float>(count) / 2) * 0.1F + 0.05F;
  }
  std::shuffle(values.begin(), values.end(), std::mt19937(seed));
  return values;
}

TEST_F(ReferenceOps, Convolution) {
  for (const Conv2dSpec& spec :
       {Conv2dSpec{3, 3, 1, 1, false}, Conv2dSpec{2, 3, 2, 0, false}, Conv2dSpec{1, 2, 3, 1, false}}) {
    const auto input = TensorDesc::plain({2, 2, 5, 6});
    auto op = device->conv2d(spec, input);
    ASSERT_TRUE(op.ok()) << op.error().text;
    const OpInputs in{random_values(120, 1), random_values((*op)->output().shape.count(), 2),
                      random_values(spec.out_channels * 2 * spec.kernel * spec.kernel, 3),
                      random_values(spec.out_channels, 4)};
    expect_gradients(**op, input, in,
                     0.5F);  // linear in each number, so a large step has no error of its own
  }
}

TEST_F(ReferenceOps, ConvolutionByHand) {
  // A row of 1, 2, 3 with a zero on each side, under weights 10, 1, 100.
  const auto input = TensorDesc::plain({1, 1, 1, 3});
  auto op = device->conv2d({1, 3, 1, 1, false}, input);
  ASSERT_TRUE(op.ok());
  const Values weight = {0, 0, 0, 10, 1, 100, 0, 0, 0};
  const auto y = run_op(**op, input, *stream, {{1, 2, 3}, {0, 0, 0}, weight, {0.5F}}).y;
  EXPECT_EQ(y, (Values{201.5F, 312.5F, 23.5F}));
}

TEST_F(ReferenceOps, Linear) {
  const auto input = TensorDesc::plain({3, 2, 2, 2});
  auto op = device->linear({4, false}, input);
  ASSERT_TRUE(op.ok());
  expect_gradients(**op, input,
                   {random_values(24, 1), random_values(12, 2), random_values(32, 3), random_values(4, 4)},
                   0.5F);
}

TEST_F(ReferenceOps, Pooling) {
  for (const auto kind : {Pool2dSpec::Kind::max, Pool2dSpec::Kind::average}) {
    for (const Pool2dSpec& spec : {Pool2dSpec{kind, 2, 2}, Pool2dSpec{kind, 3, 2}, Pool2dSpec{kind, 2, 3}}) {
      const auto input = TensorDesc::plain({2, 2, 5, 5});
      auto op = device->pool2d(spec, input);
      ASSERT_TRUE(op.ok());
      const OpInputs in{separated(100, 1), random_values((*op)->output().shape.count(), 2), {}, {}};
      expect_gradients(**op, input, in, 0.01F);
    }
  }
}

TEST_F(ReferenceOps, Relu) {
  const auto input = TensorDesc::plain({4, 7});
  auto op = device->relu(input);
  ASSERT_TRUE(op.ok());
  expect_gradients(**op, input, {separated(28, 1), random_values(28, 2), {}, {}}, 0.01F);
}

TEST_F(ReferenceOps, FusedReluIsReluBehindTheOp) {
  const auto input = TensorDesc::plain({2, 3, 6, 6});
  auto fused = device->conv2d({4, 3, 1, 1, true}, input);
  auto bare = device->conv2d({4, 3, 1, 1, false}, input);
  ASSERT_TRUE(fused.ok());
  ASSERT_TRUE(bare.ok());
  OpInputs in{random_values(216, 1), random_values(288, 2), random_values(108, 3), random_values(4, 4)};
  const auto one = run_op(**fused, input, *stream, in);
  const auto y = run_op(**bare, input, *stream, in).y;
  for (std::size_t i = 0; i < y.size(); ++i) {
    EXPECT_EQ(one.y[i], std::max(y[i], 0.0F));
    if (y[i] <= 0) in.dy[i] = 0;
  }
  const auto two = run_op(**bare, input, *stream, in);
  EXPECT_EQ(one.dx, two.dx);
  EXPECT_EQ(one.dweight, two.dweight);
  EXPECT_EQ(one.dbias, two.dbias);
}

TEST_F(ReferenceOps, SoftmaxCrossEntropy) {
  const auto desc = TensorDesc::plain({3, 5});
  auto op = device->softmax_cross_entropy(desc);
  ASSERT_TRUE(op.ok());
  auto logits = random_values(15, 1, 3);
  const std::vector<std::int32_t> labels = {4, 0, 2};
  const auto loss = [&](float* dlogits) {
    Tensor gradient{desc, dlogits};
    return (*op)->run(*stream, {desc, logits.data()}, labels.data(),
                      dlogits != nullptr ? &gradient : nullptr);
  };
  const Poisoned dlogits(15);
  const auto score = loss(dlogits.data());
  EXPECT_EQ(score.samples, 3U);
  EXPECT_TRUE(dlogits.tail_untouched());
  double by_hand = 0;
  for (std::size_t sample = 0; sample < 3; ++sample) {
    double sum = 0;
    for (std::size_t c = 0; c < 5; ++c) sum += std::exp(static_cast<double>(logits[sample * 5 + c]));
    by_hand +=
        std::log(sum) - static_cast<double>(logits[sample * 5 + static_cast<std::size_t>(labels[sample])]);
  }
  EXPECT_NEAR(score.loss_sum, by_hand, 1e-5);
  for (std::size_t i = 0; i < 15; ++i) {
    const float before = logits[i];
    logits[i] = before + 0.01F;
    const double above = loss(nullptr).loss_sum;
    logits[i] = before - 0.01F;
    const double below = loss(nullptr).loss_sum;
    logits[i] = before;
    EXPECT_NEAR((above - below) / 0.02, dlogits.data()[i], 2e-4) << "logit " << i;
  }
}

}  // namespace
}  // namespace thalweg::gpu
