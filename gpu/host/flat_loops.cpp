#include "gpu/flat_functors.hpp"
#include "gpu/host/flat_kernels.hpp"

/// The loops around the functors. Compiled once per instruction set, with THALWEG_FLAT_ISA as its name; see
/// gpu/CMakeLists.txt. Everything but the table is local to the unit.
#define THALWEG_TEXT_OF(name) #name
#define THALWEG_TEXT(name) THALWEG_TEXT_OF(name)
#define THALWEG_JOIN_OF(a, b) a##b
#define THALWEG_JOIN(a, b) THALWEG_JOIN_OF(a, b)

// Elements do not depend on each other, also when an output is one of the inputs (a step in place).
#ifdef __clang__
#define THALWEG_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define THALWEG_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace thalweg::gpu::host {
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

void weighted_sum(float* sum, const float* const* sources, const float* weights, std::size_t sources_count,
                  bool accumulate, std::size_t count) {
  if (sources_count == 0 && !accumulate) fill(sum, 0, count);
  for (std::size_t begin = 0; begin < count; begin += flat_block) {
    const auto size = count - begin < flat_block ? count - begin : flat_block;
    float* block = sum + begin;
    for (std::size_t k = 0; k < sources_count; ++k) {
      const float* x = sources[k] + begin;
      const bool starts = k == 0 && !accumulate;
      if (weights == nullptr || weights[k] == 1) {
        starts ? run(size, flat::Copy{block, x}) : run(size, flat::Add{block, x});
      } else {
        starts ? run(size, flat::Scaled{block, x, weights[k]}) : run(size, flat::Axpy{block, x, weights[k]});
      }
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

}  // namespace

const FlatKernels& THALWEG_JOIN(flat_kernels_, THALWEG_FLAT_ISA)() {
  static constexpr FlatKernels table = {
      THALWEG_TEXT(THALWEG_FLAT_ISA), fill, copy, axpy, scale, weighted_sum, sgd_step};
  return table;
}

}  // namespace thalweg::gpu::host
