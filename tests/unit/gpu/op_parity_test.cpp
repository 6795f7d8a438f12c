#include "tests/unit/gpu/op_run.hpp"

#include <gtest/gtest.h>

#include <memory>

/// The host's best ops against the reference loops, and against themselves.
namespace thalweg::gpu {
namespace {

using namespace testing;

constexpr double tolerance = 1e-5;

struct OpParity : ::testing::Test {
  std::unique_ptr<Device> best = open_host_device({HostOptions::Ops::best, true});
  std::unique_ptr<Device> reference = open_host_device({HostOptions::Ops::reference, true});
  std::unique_ptr<Stream> stream = best->open_stream("parity");
  std::mt19937 engine{7};

  std::size_t pick(std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(engine);
  }

  static void expect_clean(const OpResult& result) {
    EXPECT_TRUE(result.tails_untouched);
    EXPECT_TRUE(result.layout_padding_clean);
  }

  static void expect_equal(const OpResult& fast, const OpResult& plain) {
    EXPECT_LE(relative_distance(fast.y, plain.y), tolerance);
    EXPECT_LE(relative_distance(fast.dx, plain.dx), tolerance);
    EXPECT_LE(relative_distance(fast.dweight, plain.dweight), tolerance);
    EXPECT_LE(relative_distance(fast.dbias, plain.dbias), tolerance);
    expect_clean(fast);
    expect_clean(plain);
  }

  /// Makes the op on both devices, runs both on the same numbers, `times` over, and compares.
  /// `input` may be in a layout of the best device; the reference gets it plain.
  template <class Spec, class Make>
  void compare(const Spec& spec, const TensorDesc& input, std::size_t weights, std::size_t biases,
               const Make& make, bool wants_dx = true) {
    auto fast = make(*best, spec, input);
    auto plain = make(*reference, spec, TensorDesc::plain(input.shape));
    ASSERT_TRUE(fast.ok()) << fast.error().text;
    ASSERT_TRUE(plain.ok()) << plain.error().text;
    const auto y_shape = (*plain)->output().shape;
    ASSERT_EQ((*fast)->output().shape, y_shape);
    const auto seed = static_cast<unsigned>(pick(1, 1'000'000));
    const OpInputs in{random_values(input.shape.count(), seed), random_values(y_shape.count(), seed + 1),
                      random_values(weights, seed + 2), random_values(biases, seed + 3), wants_dx};
    expect_equal(run_op(**fast, input, *stream, in, 2),
                 run_op(**plain, TensorDesc::plain(input.shape), *stream, in));
  }

  void compare_conv(const Conv2dSpec& spec, const TensorDesc& input, bool wants_dx = true) {
    SCOPED_TRACE(::testing::Message() << input.shape[0] << "x" << input.shape[1] << "x" << input.shape[2]
                                      << "x" << input.shape[3] << (input.layout ? " blocked" : "") << " to "
                                      << spec.out_channels << " kernel " << spec.kernel << " stride "
                                      << spec.stride << " padding " << spec.padding << " relu " << spec.relu);
    compare(
        spec, input, spec.out_channels * input.shape[1] * spec.kernel * spec.kernel, spec.out_channels,
        [](Device& device, const Conv2dSpec& s, const TensorDesc& x) { return device.conv2d(s, x); },
        wants_dx);
  }

  void compare_linear(const LinearSpec& spec, const TensorDesc& input) {
    SCOPED_TRACE(::testing::Message() << "linear " << input.shape.count() << " over " << input.shape[0]
                                      << (input.layout ? " blocked" : "") << " to " << spec.out_features);
    compare(spec, input, spec.out_features * (input.shape.count() / input.shape[0]), spec.out_features,
            [](Device& device, const LinearSpec& s, const TensorDesc& x) { return device.linear(s, x); });
  }

  void compare_pool(const Pool2dSpec& spec, const TensorDesc& input) {
    SCOPED_TRACE(::testing::Message()
                 << "pool " << input.shape[0] << "x" << input.shape[1] << "x" << input.shape[2] << "x"
                 << input.shape[3] << (input.layout ? " blocked" : "") << " kernel " << spec.kernel
                 << " stride " << spec.stride);
    compare(spec, input, 0, 0,
            [](Device& device, const Pool2dSpec& s, const TensorDesc& x) { return device.pool2d(s, x); });
  }

  /// Shape [n, c, h, w] in the layout a convolution of the best device would put it out in.
  TensorDesc as_from_conv(std::size_t n, std::size_t c, std::size_t h, std::size_t w) {
    auto conv = best->conv2d({c, 1, 1, 0, false}, TensorDesc::plain({n, 8, h, w}));
    return conv ? (*conv)->output() : TensorDesc::plain({n, c, h, w});
  }
};

TEST_F(OpParity, ConvolutionOverRandomShapes) {
  for (int round = 0; round < 40; ++round) {
    const auto kernel = pick(1, 5);
    const Conv2dSpec spec{pick(1, 20), kernel, pick(1, 3), pick(0, kernel - 1), pick(0, 1) == 1};
    const auto n = round % 4 == 0 ? 1 : pick(1, 5), c = pick(1, 20), h = pick(kernel, 14),
               w = pick(kernel, 14);
    compare_conv(spec, round % 2 == 0 ? TensorDesc::plain({n, c, h, w}) : as_from_conv(n, c, h, w),
                 round % 5 != 0);
  }
}

TEST_F(OpParity, ConvolutionsOfLeNet5) {
  compare_conv({6, 5, 1, 2, true}, TensorDesc::plain({8, 1, 28, 28}));
  compare_conv({16, 5, 1, 0, true}, as_from_conv(8, 6, 14, 14));
}

TEST_F(OpParity, LinearOverRandomShapes) {
  for (int round = 0; round < 20; ++round) {
    const LinearSpec spec{pick(1, 40), pick(0, 1) == 1};
    const auto n = round % 4 == 0 ? 1 : pick(1, 9);
    compare_linear(spec, TensorDesc::plain({n, pick(1, 60)}));
    compare_linear(spec, TensorDesc::plain({n, pick(1, 17), pick(1, 5), pick(1, 5)}));
    compare_linear(spec, as_from_conv(n, pick(1, 17), pick(1, 5), pick(1, 5)));
  }
}

TEST_F(OpParity, PoolingOverRandomShapes) {
  for (int round = 0; round < 40; ++round) {
    const auto kernel = pick(1, 3);
    const Pool2dSpec spec{round % 2 == 0 ? Pool2dSpec::Kind::max : Pool2dSpec::Kind::average, kernel,
                          round % 3 == 0 ? kernel : pick(1, 3)};
    const auto n = pick(1, 4), c = pick(1, 20), h = pick(kernel, 13), w = pick(kernel, 13);
    compare_pool(spec, TensorDesc::plain({n, c, h, w}));
    compare_pool(spec, as_from_conv(n, c, h, w));
  }
}

TEST_F(OpParity, MaxPoolingGivesTiesToTheFirst) {
  const auto input = as_from_conv(1, 3, 4, 4);
  auto fast = best->pool2d({}, input);
  ASSERT_TRUE(fast.ok());
  const auto result = run_op(**fast, input, *stream, {Values(48, 0.0F), Values(12, 1.0F), {}, {}});
  for (std::size_t i = 0; i < 48; ++i) {
    const bool corner = (i / 4 % 4) % 2 == 0 && i % 4 % 2 == 0;
    EXPECT_EQ(result.dx[i], corner ? 1 : 0) << i;
  }
}

TEST_F(OpParity, ReluOverAnyLayout) {
  for (const auto& input :
       {TensorDesc::plain({3, 17}), TensorDesc::plain({2, 3, 5, 7}), as_from_conv(2, 11, 5, 7)}) {
    compare(0, input, 0, 0, [](Device& device, int, const TensorDesc& x) { return device.relu(x); });
  }
}

TEST_F(OpParity, WithoutDxTheRestIsTheSame) {
  const auto input = TensorDesc::plain({3, 5, 8, 8});
  auto op = best->conv2d({7, 3, 1, 1, true}, input);
  ASSERT_TRUE(op.ok());
  OpInputs in{random_values(960, 1), random_values(3 * 7 * 64, 2), random_values(315, 3),
              random_values(7, 4)};
  const auto with = run_op(**op, input, *stream, in);
  in.wants_dx = false;
  const auto without = run_op(**op, input, *stream, in);
  EXPECT_EQ(with.dweight, without.dweight);
  EXPECT_EQ(with.dbias, without.dbias);
}

TEST_F(OpParity, SameInputsGiveTheSameBits) {
  const auto input = TensorDesc::plain({5, 6, 14, 14});
  const OpInputs in{random_values(5 * 6 * 196, 1), random_values(8000, 2), random_values(2400, 3),
                    random_values(16, 4)};
  const auto run = [&] {
    auto op = best->conv2d({16, 5, 1, 0, true}, input);
    return run_op(**op, input, *stream, in);
  };
  const auto first = run(), second = run();
  EXPECT_EQ(first.y, second.y);
  EXPECT_EQ(first.dx, second.dx);
  EXPECT_EQ(first.dweight, second.dweight);
  EXPECT_EQ(first.dbias, second.dbias);
}

}  // namespace
}  // namespace thalweg::gpu
