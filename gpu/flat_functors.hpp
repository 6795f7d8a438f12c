#pragma once

#include <cstddef>

/// The arithmetic of flat vectors, one element at a time: what gpu/flat.hpp does, as index functors. A host
/// loop and a grid-stride kernel run the same source, and since each operation is rounded by itself, in the
/// same order, they give the same bits.
///
/// On the host this file is compiled once per instruction set. Each time its contents get a namespace of
/// their own, so that the linker never picks the AVX-512 version of an inline function for the baseline
/// loops. Nothing here may call a function of another header, for the same reason.
#ifdef __CUDACC__
#define THALWEG_HD __host__ __device__
#else
#define THALWEG_HD
#endif
#ifndef THALWEG_ISA
#define THALWEG_ISA portable
#endif

namespace thalweg::gpu::flat::inline THALWEG_ISA {

/// A product and a sum that no compiler contracts into one rounding. The host loops are built with
/// -ffp-contract=off; nvcc contracts unless told by these.
THALWEG_HD inline float product(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}
THALWEG_HD inline float plus(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fadd_rn(a, b);
#else
  return a + b;
#endif
}

/// x, but not below -most and not above most; a NaN stays one.
THALWEG_HD inline float clamped(float x, float most) {
  const float below = x > most ? most : x;
  return below < -most ? -most : below;
}

struct Fill {
  float* y;
  float value;
  THALWEG_HD void operator()(std::size_t i) const { y[i] = value; }
};

struct Copy {
  float* y;
  const float* x;
  THALWEG_HD void operator()(std::size_t i) const { y[i] = x[i]; }
};

struct Axpy {
  float* y;
  const float* x;
  float a;
  THALWEG_HD void operator()(std::size_t i) const { y[i] = plus(y[i], product(a, x[i])); }
};

struct Scale {
  float* y;
  float a;
  THALWEG_HD void operator()(std::size_t i) const { y[i] = product(y[i], a); }
};

struct Move {
  float* out;
  const float* base;
  const float* x;
  float n;
  THALWEG_HD void operator()(std::size_t i) const { out[i] = product(n, plus(base[i], -x[i])); }
};

struct Mix {
  float* y;
  const float* x;
  float rest;  ///< 1 - share, rounded once
  float share;
  THALWEG_HD void operator()(std::size_t i) const { y[i] = plus(product(rest, y[i]), product(share, x[i])); }
};

struct Shift {
  float* out;
  const float* w;
  const float* x;
  const float* start;
  THALWEG_HD void operator()(std::size_t i) const { out[i] = plus(w[i], plus(x[i], -start[i])); }
};

/// One element of a weighted sum over all sources, in their order. A GPU runs it as it is; the host takes
/// up to eight sources at a time (host/flat_loops.cpp), which gives each element the same operations.
struct WeightedSum {
  float* sum;
  const float* const* sources;
  const float* weights;  ///< null: all 1
  std::size_t count;
  bool accumulate;
  THALWEG_HD void operator()(std::size_t i) const {
    float total = accumulate ? sum[i] : 0;
    for (std::size_t k = 0; k < count; ++k) {
      const float x = sources[k][i];
      const float term = weights == nullptr || weights[k] == 1 ? x : product(weights[k], x);
      total = k == 0 && !accumulate ? term : plus(total, term);
    }
    sum[i] = total;
  }
};

/// PyTorch's SGD (torch.optim.SGD). `v` is null without momentum.
template <bool has_velocity>
struct SgdStep {
  float* next;
  const float* w;
  const float* gradient_sum;
  float* v;
  float lr, momentum, weight_decay, gradient_scale;
  bool nesterov, first;
  THALWEG_HD void operator()(std::size_t i) const {
    const float g = plus(product(gradient_scale, gradient_sum[i]), product(weight_decay, w[i]));
    float move = g;
    if constexpr (has_velocity) {
      const float velocity = first ? g : plus(product(momentum, v[i]), g);
      v[i] = velocity;
      move = nesterov ? plus(g, product(momentum, velocity)) : velocity;
    }
    next[i] = plus(w[i], product(-lr, move));
  }
};

/// PyTorch's AdamW (torch.optim.AdamW): decoupled weight decay, then Adam. `m` and `v` are its exp_avg and
/// exp_avg_sq. Root and quotient are rounded exactly everywhere, as products and sums are.
struct AdamWStep {
  float* next;
  const float* w;
  const float* gradient_sum;
  float* m;
  float* v;
  float keep;  ///< 1 - lr * weight decay
  float beta1, beta2;
  float rest1, rest2;     ///< 1 - beta
  float step_size;        ///< lr / (1 - beta1^t)
  float root_correction;  ///< sqrt(1 - beta2^t)
  float eps;
  float gradient_scale;
  THALWEG_HD void operator()(std::size_t i) const {
    const float g = product(gradient_scale, gradient_sum[i]);
    const float mean = plus(product(beta1, m[i]), product(rest1, g));
    const float square = plus(product(beta2, v[i]), product(rest2, product(g, g)));
    m[i] = mean;
    v[i] = square;
    const float denominator = plus(__builtin_sqrtf(square) / root_correction, eps);
    next[i] = plus(product(keep, w[i]), product(-step_size, mean / denominator));
  }
};

/// First-order compensation of a gradient's delay; see gpu::compensate for the formula. `mean_square` is null
/// where the rate is constant, and only written at `first`.
template <bool adaptive, bool first>
struct Compensate {
  float* out;
  const float* gradient_sum;
  const float* w;
  const float* w_base;
  float* mean_square;
  float lambda, gradient_scale, decay, rest, eps;
  float most;  ///< of a correction, either way; infinite without clamping
  THALWEG_HD void operator()(std::size_t i) const {
    const float g = product(gradient_scale, gradient_sum[i]);
    float rate = lambda;
    if constexpr (adaptive) {
      float mean = product(g, g);
      if constexpr (!first) mean = plus(product(decay, mean_square[i]), product(rest, mean));
      mean_square[i] = mean;
      rate = lambda / __builtin_sqrtf(plus(mean, eps));
    }
    const float c = clamped(product(product(rate, g), plus(w[i], -w_base[i])), most);
    out[i] = product(g, plus(1.0F, c));
  }
};

}  // namespace thalweg::gpu::flat::inline THALWEG_ISA
