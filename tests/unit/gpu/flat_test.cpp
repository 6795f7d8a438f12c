#include "gpu/flat.hpp"

#include "gpu/flat_functors.hpp"
#include "gpu/host/isa_kernels.hpp"
#include "tests/unit/gpu/op_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

/// Flat kernels against loops written out here, bit for bit, on every instruction set of this processor.
namespace thalweg::gpu {
namespace {

using testing::Poisoned;
using testing::random_values;
using testing::Values;

constexpr std::size_t sizes[] = {0, 1, 7, 16, 33, 2047, 2048, 2049, 5003};

/// A copy of `values` that has a tail nobody may write to.
Poisoned guarded(const Values& values) {
  Poisoned memory(values.size());
  std::copy(values.begin(), values.end(), memory.data());
  return memory;
}

struct FlatKernels : ::testing::TestWithParam<std::size_t> {
  const host::FlatKernels& kernels = host::isa_kernels(GetParam()).flat;

  /// Runs `kernel(y)` on a copy of `y` and compares every bit with `expected`.
  template <class Kernel>
  static void expect_bits(const Values& y, const Values& expected, const Kernel& kernel) {
    const auto memory = guarded(y);
    kernel(memory.data());
    EXPECT_EQ(memory.values(), expected) << "size " << y.size();
    EXPECT_TRUE(memory.tail_untouched()) << "size " << y.size();
  }
};

TEST_P(FlatKernels, FillCopyAxpyScale) {
  for (const auto size : sizes) {
    const auto x = random_values(size, 1), y = random_values(size, 2);
    Values sum = y, product = y;
    for (std::size_t i = 0; i < size; ++i) sum[i] += 0.3F * x[i];
    for (auto& value : product) value *= -1.7F;
    expect_bits(y, Values(size, 2.5F), [&](float* to) { kernels.fill(to, 2.5F, size); });
    expect_bits(y, x, [&](float* to) { kernels.copy(to, x.data(), size); });
    expect_bits(y, sum, [&](float* to) { kernels.axpy(to, 0.3F, x.data(), size); });
    expect_bits(y, product, [&](float* to) { kernels.scale(to, -1.7F, size); });
  }
}

TEST_P(FlatKernels, WeightedSumInTheOrderOfTheSources) {
  for (const auto size : sizes) {
    for (const std::size_t count : {0U, 1U, 2U, 3U, 7U, 8U, 9U, 19U}) {
      std::vector<Values> sources;
      std::vector<const float*> pointers;
      for (std::size_t k = 0; k < count; ++k) {
        sources.push_back(random_values(size, static_cast<unsigned>(10 + k), k % 3 == 0 ? 1e4F : 1));
        pointers.push_back(sources.back().data());
      }
      auto weights = random_values(count, 3);
      if (count > 1) weights[1] = 1;
      const auto y = random_values(size, 4);
      for (const bool accumulate : {false, true}) {
        for (const float* w :
             {static_cast<const float*>(nullptr), static_cast<const float*>(weights.data())}) {
          Values expected = accumulate ? y : Values(size, 0);
          const flat::WeightedSum functor{expected.data(), pointers.data(), w, count, accumulate};
          for (std::size_t i = 0; i < size; ++i) functor(i);
          expect_bits(y, expected, [&](float* to) {
            kernels.weighted_sum(to, pointers.data(), w, count, accumulate, size);
          });
        }
      }
    }
  }
}

/// torch.optim.SGD, written out for one number.
float pytorch_sgd(float w, float gradient_sum, float& velocity, const SgdCoefficients& with) {
  float gradient = with.gradient_scale * gradient_sum;
  gradient = gradient + with.weight_decay * w;
  if (with.momentum == 0) return w - with.lr * gradient;
  velocity = with.first ? gradient : with.momentum * velocity + gradient;
  const float move = with.nesterov ? gradient + with.momentum * velocity : velocity;
  return w - with.lr * move;
}

TEST_P(FlatKernels, AllFiniteFindsAnInfinityOrANaNAnywhere) {
  std::vector<float> x(1003, std::numeric_limits<float>::max());
  x[5] = -0.0F;
  x[6] = std::numeric_limits<float>::denorm_min();
  EXPECT_TRUE(kernels.all_finite(x.data(), x.size()));
  for (const float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()}) {
    for (const std::size_t at : {std::size_t{0}, std::size_t{511}, x.size() - 1}) {
      auto broken = x;
      broken[at] = bad;
      EXPECT_FALSE(kernels.all_finite(broken.data(), broken.size()));
      EXPECT_TRUE(kernels.all_finite(broken.data(), at));
    }
  }
}

TEST_P(FlatKernels, SquaredNormIsTheSameEverywhereAndFiniteWhenAllNumbersAre) {
  for (const auto size : sizes) {
    auto x = random_values(size, 5, 1e3F);
    double exact = 0;
    for (const float value : x) exact += static_cast<double>(value) * static_cast<double>(value);
    const double norm = kernels.squared_norm(x.data(), size);
    EXPECT_NEAR(norm, exact, 1e-12 * exact);
    EXPECT_EQ(norm, host::isa_kernels(0).flat.squared_norm(x.data(), size));
    if (size == 0) continue;
    x[size / 2] = std::numeric_limits<float>::max();
    EXPECT_TRUE(std::isfinite(kernels.squared_norm(x.data(), size)));
    for (const float bad : {INFINITY, -INFINITY, NAN}) {
      x[size / 2] = bad;
      EXPECT_FALSE(std::isfinite(kernels.squared_norm(x.data(), size)));
    }
  }
}

TEST_P(FlatKernels, SgdStepIsPyTorchs) {
  for (const auto size : sizes) {
    for (const SgdCoefficients& with : {SgdCoefficients{0.1F, 0, 0, 0.25F, false, false},
                                        SgdCoefficients{0.1F, 0, 1e-2F, 0.25F, false, false},
                                        SgdCoefficients{0.1F, 0.9F, 0, 1, false, true},
                                        SgdCoefficients{0.1F, 0.9F, 1e-2F, 0.25F, false, false},
                                        SgdCoefficients{0.1F, 0.9F, 1e-2F, 0.25F, true, true},
                                        SgdCoefficients{0.1F, 0.9F, 1e-2F, 0.25F, true, false}}) {
      const auto w = random_values(size, 1), gradient = random_values(size, 2), v = random_values(size, 3);
      Values next(size), velocity = v;
      for (std::size_t i = 0; i < size; ++i) next[i] = pytorch_sgd(w[i], gradient[i], velocity[i], with);
      const auto moving = guarded(v);
      const host::FlatSgd coefficients{with.lr,       with.momentum, with.weight_decay, with.gradient_scale,
                                       with.nesterov, with.first};
      float* velocity_data = with.momentum != 0 ? moving.data() : nullptr;
      expect_bits(w, next, [&](float* to) {  // in place: next is w
        kernels.sgd_step(to, to, gradient.data(), velocity_data, coefficients, size);
      });
      EXPECT_EQ(moving.values(), velocity);
      EXPECT_TRUE(moving.tail_untouched());
    }
  }
}

/// torch.optim.AdamW, written out for one number.
float pytorch_adamw(float w, float gradient_sum, float& m, float& v, const host::FlatAdamW& with) {
  const float gradient = with.gradient_scale * gradient_sum;
  const float old_mean = with.beta1 * m;
  m = old_mean + with.rest1 * gradient;
  const float square = gradient * gradient;
  const float old_square = with.beta2 * v;
  v = old_square + with.rest2 * square;
  const float move = m / (std::sqrt(v) / with.root_correction + with.eps);
  const float kept = with.keep * w;
  return kept - with.step_size * move;
}

TEST_P(FlatKernels, AdamWStepIsPyTorchs) {
  const host::FlatAdamW with{0.99F, 0.9F, 0.95F, 0.1F, 0.05F, 0.3F, 0.22F, 1e-8F, 0.25F};
  for (const auto size : sizes) {
    const auto w = random_values(size, 1), gradient = random_values(size, 2);
    auto m = random_values(size, 3), v = random_values(size, 4);
    for (auto& square : v) square = std::abs(square);
    const auto m_there = guarded(m), v_there = guarded(v);
    Values next(size);
    for (std::size_t i = 0; i < size; ++i) next[i] = pytorch_adamw(w[i], gradient[i], m[i], v[i], with);
    expect_bits(w, next, [&](float* to) {
      kernels.adamw_step(to, to, gradient.data(), m_there.data(), v_there.data(), with, size);
    });
    EXPECT_EQ(m_there.values(), m);
    EXPECT_EQ(v_there.values(), v);
    EXPECT_TRUE(m_there.tail_untouched() && v_there.tail_untouched());
  }
}

TEST_P(FlatKernels, MoveMixShift) {
  for (const auto size : sizes) {
    const auto a = random_values(size, 1), b = random_values(size, 2), c = random_values(size, 3);
    Values moved(size), mixed(size), shifted(size);
    for (std::size_t i = 0; i < size; ++i) {
      const float gone = a[i] - b[i];
      moved[i] = 24 * gone;
      const float kept = 0.7F * a[i], added = 0.3F * b[i];
      mixed[i] = kept + added;
      const float own = b[i] - c[i];
      shifted[i] = a[i] + own;
    }
    expect_bits(c, moved, [&](float* to) { kernels.move(to, a.data(), b.data(), 24, size); });
    expect_bits(a, mixed, [&](float* to) { kernels.mix(to, b.data(), 0.3F, size); });
    expect_bits(a, a, [&](float* to) { kernels.mix(to, b.data(), 0, size); });
    expect_bits(a, b, [&](float* to) { kernels.mix(to, b.data(), 1, size); });
    expect_bits(c, shifted, [&](float* to) { kernels.shift(to, a.data(), b.data(), c.data(), size); });
    // In place, over each of the inputs.
    expect_bits(a, moved, [&](float* to) { kernels.move(to, to, b.data(), 24, size); });
    expect_bits(b, moved, [&](float* to) { kernels.move(to, a.data(), to, 24, size); });
    expect_bits(a, shifted, [&](float* to) { kernels.shift(to, to, b.data(), c.data(), size); });
    expect_bits(b, shifted, [&](float* to) { kernels.shift(to, a.data(), to, c.data(), size); });
    expect_bits(c, shifted, [&](float* to) { kernels.shift(to, a.data(), b.data(), to, size); });
  }
}

/// The formula of gpu::compensate, written out for one number; `mean_square` is null where it is constant.
float compensated(float gradient_sum, float w, float w_base, float* mean_square,
                  const host::FlatCompensation& with) {
  const float g = with.gradient_scale * gradient_sum;
  float rate = with.lambda;
  if (mean_square != nullptr) {
    const float square = g * g;
    const float fresh = with.rest * square, old = with.decay * *mean_square;
    *mean_square = with.first ? square : old + fresh;
    rate = with.lambda / std::sqrt(*mean_square + with.eps);
  }
  const float slope = rate * g;
  float c = slope * (w - w_base);
  if (with.clamp) c = std::max(-1.0F, std::min(1.0F, c));
  return g * (1 + c);
}

TEST_P(FlatKernels, CompensateIsItsFormula) {
  for (const auto size : sizes) {
    const auto w = random_values(size, 1), base = random_values(size, 2), sum = random_values(size, 3, 100),
               old = random_values(size, 4);
    for (const bool adaptive : {false, true}) {
      for (const bool clamp : {false, true}) {
        for (const bool first : {false, true}) {
          const host::FlatCompensation with{2, 1.0F / 64, 0.95F, 0.05F, 1e-7F, clamp, first};
          Values squares = old;
          for (auto& square : squares) square = std::abs(square);
          const auto squares_there = guarded(squares);
          Values out(size);
          for (std::size_t i = 0; i < size; ++i) {
            out[i] = compensated(sum[i], w[i], base[i], adaptive ? &squares[i] : nullptr, with);
          }
          float* squares_data = adaptive ? squares_there.data() : nullptr;
          expect_bits(sum, out, [&](float* to) {  // in place of the sum
            kernels.compensate(to, to, w.data(), base.data(), squares_data, with, size);
          });
          EXPECT_EQ(squares_there.values(), squares);
          EXPECT_TRUE(squares_there.tail_untouched());
        }
      }
    }
  }
}

TEST_P(FlatKernels, CompensateClampsButKeepsNaN) {
  const Values sum(4, 1), base(4, 0);
  const Values w = {1e30F, -1e30F, NAN, 0.25F};
  Values out(4);
  kernels.compensate(out.data(), sum.data(), w.data(), base.data(), nullptr,
                     {2, 1, 0.95F, 0.05F, 1e-7F, true, false}, 4);
  EXPECT_EQ(out[0], 2);
  EXPECT_EQ(out[1], 0);
  EXPECT_TRUE(std::isnan(out[2]));
  EXPECT_EQ(out[3], 1.5F);
}

INSTANTIATE_TEST_SUITE_P(EveryInstructionSet, FlatKernels,
                         ::testing::Range(std::size_t{0}, host::isa_count()), [](const auto& tested) {
                           return std::string(host::isa_kernels(tested.param).name);
                         });

TEST(Flat, OneCallOrSeveralGiveTheSameBits) {
  constexpr std::size_t size = 5003;
  std::vector<Values> sources;
  std::vector<const float*> pointers;
  for (unsigned k = 0; k < 11; ++k) sources.push_back(random_values(size, k, 1e3F));
  for (const auto& source : sources) pointers.push_back(source.data());
  const auto weights = random_values(11, 99);

  Values whole(size);
  weighted_sum(whole, pointers, weights, false);
  for (const std::size_t first : {1U, 4U, 10U}) {  // by sources
    Values parts(size);
    const std::span all(pointers);
    const std::span all_weights(weights);
    weighted_sum(parts, all.first(first), all_weights.first(first), false);
    weighted_sum(parts, all.subspan(first), all_weights.subspan(first), true);
    EXPECT_EQ(parts, whole) << "cut after source " << first;
  }
  for (const std::size_t cut : {1U, 1000U, 2049U}) {  // by elements
    Values parts(size);
    auto behind = pointers;
    for (auto& pointer : behind) pointer += cut;
    weighted_sum(std::span(parts).first(cut), pointers, weights, false);
    weighted_sum(std::span(parts).subspan(cut), behind, weights, false);
    EXPECT_EQ(parts, whole) << "cut at " << cut;
  }
}

TEST(Flat, TheInterfaceReachesTheBestKernels) {
  EXPECT_STREQ(flat_kernel_isa(), host::isa_kernels(host::isa_count() - 1).name);
  Values y = {1, 2, 3};
  const Values x = {10, 20, 30};
  axpy(y, 2, x);
  EXPECT_THAT(y, ::testing::ElementsAre(21, 42, 63));
  scale(y, 0.5F);
  EXPECT_THAT(y, ::testing::ElementsAre(10.5F, 21, 31.5F));
  copy(y, x);
  EXPECT_EQ(y, x);
  fill(y, 0);
  EXPECT_EQ(y, Values(3, 0));
  const float* sources[] = {x.data(), x.data()};
  weighted_sum(y, sources, {}, false);
  EXPECT_THAT(y, ::testing::ElementsAre(20, 40, 60));
  Values velocity(3);
  sgd_step(y, y, x, velocity, {.lr = 1, .momentum = 0.5F, .gradient_scale = 0.1F, .first = true});
  EXPECT_THAT(y, ::testing::ElementsAre(19, 38, 57));
  EXPECT_THAT(velocity, ::testing::ElementsAre(1, 2, 3));
  gpu::move(y, x, velocity, 2);
  EXPECT_THAT(y, ::testing::ElementsAre(18, 36, 54));
  mix(y, x, 0.5F);
  EXPECT_THAT(y, ::testing::ElementsAre(14, 28, 42));
  shift(y, x, velocity, y);
  EXPECT_THAT(y, ::testing::ElementsAre(-3, -6, -9));
  const Values origin(3, 0);
  Values squares(3);
  compensate(y, velocity, velocity, origin, {}, {.lambda = 0.5F, .clamp = false});
  EXPECT_THAT(y, ::testing::ElementsAre(1.5F, 6, 16.5F));
  compensate(y, velocity, velocity, velocity, squares, {.lambda = 0.5F, .first = true});
  EXPECT_THAT(y, ::testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(squares, ::testing::ElementsAre(1, 4, 9));
}

TEST(Flat, LengthsThatDifferAreABug) {
  Values y(3), x(2);
  EXPECT_DEATH(axpy(y, 1, x), "flat vectors of one call have one length");
  EXPECT_DEATH(sgd_step(y, y, y, {}, {.lr = 1, .momentum = 0.9F}), "momentum needs a velocity");
}

}  // namespace
}  // namespace thalweg::gpu
