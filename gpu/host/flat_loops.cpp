#include "gpu/flat_functors.hpp"
#include "gpu/host/isa_unit.hpp"

#include <cstdint>

/// The loops around the functors of flat vectors.

// Elements do not depend on each other, also when an output is one of the inputs (a step in place).
#ifdef __clang__
#define THALWEG_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define THALWEG_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace thalweg::gpu::host::THALWEG_ISA {
namespace {

/// Never inlined: around a call the compiler knows nothing about, it keeps the pointers apart and vectorises.
template <class Functor>
[[gnu::noinline]] void run(std::size_t count, const Functor& functor) {
  const Functor local = functor;
  THALWEG_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) local(i);
}

void fill(float* y, float value, std::size_t count) { run(count, flat::Fill{y, value}); }
void copy(float* y, const float* x, std::size_t count) { run(count, flat::Copy{y, x}); }
void axpy(float* y, float a, const float* x, std::size_t count) { run(count, flat::Axpy{y, x, a}); }
void scale(float* y, float a, std::size_t count) { run(count, flat::Scale{y, a}); }

/// `Count` sources at once: sum (+)= w[0] x[0] + ..., one after the other, in registers. What
/// flat::WeightedSum does to an element, for a number of sources the compiler knows.
template <std::size_t Count, bool starts, bool weighted>
struct SumPass {
  float* sum;
  const float* x[Count];
  float w[Count];
  void operator()(std::size_t i) const {
    float total = starts ? 0 : sum[i];
#pragma GCC unroll 8
    for (std::size_t k = 0; k < Count; ++k) {
      const float term = weighted ? flat::product(w[k], x[k][i]) : x[k][i];
      total = starts && k == 0 ? term : flat::plus(total, term);
    }
    sum[i] = total;
  }
};

template <std::size_t Count, bool starts>
void sum_pass(float* sum, const float* const* sources, const float* weights, std::size_t begin,
              std::size_t size) {
  SumPass<Count, starts, true> with{sum + begin, {}, {}};
  SumPass<Count, starts, false> without{sum + begin, {}, {}};
  for (std::size_t k = 0; k < Count; ++k) {
    with.x[k] = without.x[k] = sources[k] + begin;
    if (weights != nullptr) with.w[k] = weights[k];
  }
  weights != nullptr ? run(size, with) : run(size, without);
}

/// Adds the first 8, 4, 2 or 1 of `left` sources, and says how many.
template <bool starts>
std::size_t add_some(float* sum, const float* const* sources, const float* weights, std::size_t left,
                     std::size_t begin, std::size_t size) {
  if (left >= 8) return sum_pass<8, starts>(sum, sources, weights, begin, size), 8;
  if (left >= 4) return sum_pass<4, starts>(sum, sources, weights, begin, size), 4;
  if (left >= 2) return sum_pass<2, starts>(sum, sources, weights, begin, size), 2;
  return sum_pass<1, starts>(sum, sources, weights, begin, size), 1;
}

/// Up to eight sources are one pass; with more, a block of the sum stays in L1 until all have been added.
void weighted_sum(float* sum, const float* const* sources, const float* weights, std::size_t sources_count,
                  bool accumulate, std::size_t count) {
  if (sources_count == 0 && !accumulate) fill(sum, 0, count);
  for (std::size_t begin = 0; begin < count; begin += flat_block) {
    const auto size = count - begin < flat_block ? count - begin : flat_block;
    for (std::size_t k = 0; k < sources_count;) {
      const float* w = weights == nullptr ? nullptr : weights + k;
      k += k == 0 && !accumulate ? add_some<true>(sum, sources + k, w, sources_count - k, begin, size)
                                 : add_some<false>(sum, sources + k, w, sources_count - k, begin, size);
    }
  }
}

void sgd_step(float* next, const float* w, const float* gradient_sum, float* velocity, const FlatSgd& with,
              std::size_t count) {
  const auto& [lr, momentum, weight_decay, gradient_scale, nesterov, first] = with;
  if (velocity != nullptr) {
    run(count, flat::SgdStep<true>{next, w, gradient_sum, velocity, lr, momentum, weight_decay,
                                   gradient_scale, nesterov, first});
  } else {
    run(count, flat::SgdStep<false>{next, w, gradient_sum, nullptr, lr, momentum, weight_decay,
                                    gradient_scale, nesterov, first});
  }
}

void adamw_step(float* next, const float* w, const float* gradient_sum, float* m, float* v,
                const FlatAdamW& with, std::size_t count) {
  run(count,
      flat::AdamWStep{next, w, gradient_sum, m, v, with.keep, with.beta1, with.beta2, with.rest1, with.rest2,
                      with.step_size, with.root_correction, with.eps, with.gradient_scale});
}

void move(float* out, const float* base, const float* x, float n, std::size_t count) {
  run(count, flat::Move{out, base, x, n});
}
void mix(float* y, const float* x, float share, std::size_t count) {
  run(count, flat::Mix{y, x, 1.0F - share, share});
}
void shift(float* out, const float* w, const float* x, const float* start, std::size_t count) {
  run(count, flat::Shift{out, w, x, start});
}

template <bool adaptive, bool first>
void compensate_as(float* out, const float* gradient_sum, const float* w, const float* w_base,
                   float* mean_square, const FlatCompensation& with, std::size_t count) {
  run(count, flat::Compensate<adaptive, first>{out, gradient_sum, w, w_base, mean_square, with.lambda,
                                               with.gradient_scale, with.decay, with.rest, with.eps,
                                               with.clamp ? 1.0F : __builtin_inff()});
}

void compensate(float* out, const float* gradient_sum, const float* w, const float* w_base,
                float* mean_square, const FlatCompensation& with, std::size_t count) {
  const auto as = mean_square == nullptr ? compensate_as<false, false>
                  : with.first           ? compensate_as<true, true>
                                         : compensate_as<true, false>;
  as(out, gradient_sum, w, w_base, mean_square, with, count);
}

}  // namespace

/// An infinity or a NaN has every bit of the exponent set. Integers, since the compiler may reorder their
/// sum.
bool all_finite(const float* x, std::size_t count) {
  constexpr std::uint32_t exponent = 0x7f80'0000;
  std::uint32_t found = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits;
    __builtin_memcpy(&bits, x + i, sizeof bits);
    found |= static_cast<std::uint32_t>((bits & exponent) == exponent);
  }
  return found == 0;
}

/// Sixteen sums side by side, so that every instruction set adds the same numbers in the same order.
double squared_norm(const float* x, std::size_t count) {
  constexpr std::size_t lanes = 16;
  double sums[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const auto value = static_cast<double>(x[i + lane]);
      sums[lane] += value * value;
    }
  }
  for (std::size_t lane = 0; i < count; ++i, ++lane) {
    const auto value = static_cast<double>(x[i]);
    sums[lane] += value * value;
  }
  for (std::size_t width = lanes / 2; width > 0; width /= 2) {
    for (std::size_t lane = 0; lane < width; ++lane) sums[lane] += sums[lane + width];
  }
  return sums[0];
}

FlatKernels flat_kernels() {
  return {fill, copy, axpy,  scale,      weighted_sum, sgd_step,    adamw_step,
          move, mix,  shift, compensate, all_finite,   squared_norm};
}

}  // namespace thalweg::gpu::host::THALWEG_ISA
