#pragma once

#include <cstddef>
#include <span>

/// Element-wise kernels over flat vectors: the arithmetic of leaders and root. Each is an index functor in
/// gpu/flat_functors.hpp, one source for host and GPU; these are its host launches, built per instruction set
/// and chosen once. Multiply and add are rounded separately (no contraction), so that every instruction set,
/// split and thread count gives the same bits.
///
/// All spans of a call have the same length. Nothing here allocates or waits.
namespace thalweg::gpu {

void fill(std::span<float> y, float value);
void copy(std::span<float> y, std::span<const float> x);
void axpy(std::span<float> y, float a, std::span<const float> x);  ///< y += a x
void scale(std::span<float> y, float a);                           ///< y *= a

/// sum (+)= w[0] x[0] + w[1] x[1] + ..., in one pass over memory. No source overlaps the sum.
/// Each element is added strictly in the order of the sources, so cutting one call into several consecutive
/// ones gives the same bits. With `accumulate` false the first source starts the sum. A weight of exactly 1
/// is not multiplied. Empty `weights`: all 1.
void weighted_sum(std::span<float> sum, std::span<const float* const> sources, std::span<const float> weights,
                  bool accumulate);

struct SgdCoefficients {
  float lr = 0;
  float momentum = 0;
  float weight_decay = 0;
  float gradient_scale = 1;  ///< 1 / samples: turns the sum into the mean
  bool nesterov = false;
  bool first = false;  ///< no velocity yet: it becomes the gradient, as PyTorch does
};

/// One step of SGD, PyTorch's definition: g = scale·gradient_sum + wd·w; v = momentum·v + g; and
/// next = w - lr·v, or w - lr·(g + momentum·v) with Nesterov. `velocity` may be empty when momentum is 0.
/// `next` may be w: a step in place.
void sgd_step(std::span<float> next, std::span<const float> w, std::span<const float> gradient_sum,
              std::span<float> velocity, const SgdCoefficients& coefficients);

struct AdamWCoefficients {
  float keep = 1;  ///< 1 - lr * weight decay
  float beta1 = 0.9F, beta2 = 0.999F;
  float rest1 = 0.1F, rest2 = 0.001F;  ///< 1 - beta, rounded once
  float step_size = 0;                 ///< lr / (1 - beta1^t)
  float root_correction = 1;           ///< sqrt(1 - beta2^t)
  float eps = 1e-8F;
  float gradient_scale = 1;  ///< turns the sum into the mean
};

/// One step of AdamW, PyTorch's definition: g = scale·gradient_sum; m = beta1·m + (1 - beta1)·g;
/// v = beta2·v + (1 - beta2)·g²; next = keep·w - step_size·m / (sqrt(v) / root_correction + eps).
/// `next` may be w: a step in place.
void adamw_step(std::span<float> next, std::span<const float> w, std::span<const float> gradient_sum,
                std::span<float> m, std::span<float> v, const AdamWCoefficients& coefficients);

/// out = n·(base - x): what n samples' local steps moved x away from base, as a sum that is divided by all
/// samples later. A move is taken off w like a gradient. `out` may be one of the others.
void move(std::span<float> out, std::span<const float> base, std::span<const float> x, float n);

/// y = (1 - share)·y + share·x
void mix(std::span<float> y, std::span<const float> x, float share);

/// out = w + (x - start): new parameters plus what x has moved since `start`. `out` may be one of the others.
void shift(std::span<float> out, std::span<const float> w, std::span<const float> x,
           std::span<const float> start);

struct CompensationCoefficients {
  float lambda = 0;
  float gradient_scale = 1;           ///< 1 / samples: turns the sum into the mean
  float decay = 0.95F, rest = 0.05F;  ///< of the mean square; rest = 1 - decay, rounded once
  float eps = 1e-7F;
  bool clamp = true;
  bool first = false;  ///< no mean square yet: it becomes the gradient's square
};

/// A gradient taken at w_base, brought to w by the first-order term of its Taylor series, with the diagonal
/// of the gradient's outer product in place of the Hessian (Zheng et al., "Asynchronous Stochastic Gradient
/// Descent with Delay Compensation", 2017):
///
///     g = scale·gradient_sum;  out = g·(1 + c),  c = rate·g·(w - w_base), at most 1 either way with `clamp`
///
/// rate = lambda where `mean_square` is empty, else mean_square = decay·mean_square + (1 - decay)·g² and
/// rate = lambda / sqrt(mean_square + eps). `out` may be one of the others.
void compensate(std::span<float> out, std::span<const float> gradient_sum, std::span<const float> w,
                std::span<const float> w_base, std::span<float> mean_square,
                const CompensationCoefficients& coefficients);

/// Whether `x` holds neither an infinity nor a NaN.
bool all_finite(std::span<const float> x);

/// The sum of the squares, in double precision, in one order everywhere. No square of a float overflows
/// there, so it is finite exactly when all of `x` is.
double squared_norm(std::span<const float> x);

/// Which build of the kernels runs here: "avx512", "avx2" or "baseline".
const char* flat_kernel_isa();

}  // namespace thalweg::gpu
