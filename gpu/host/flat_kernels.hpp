#pragma once

#include <cstddef>

/// The table through which gpu/flat.hpp reaches the loops of one instruction set. Plain pointers only: the
/// units behind it are compiled with flags the rest of the program must not see the code of.
namespace thalweg::gpu::host {

/// Floats of a block in weighted_sum: with its source's block it fits into L1 (16 KiB).
inline constexpr std::size_t flat_block = 2048;

struct FlatSgd {
  float lr, momentum, weight_decay, gradient_scale;
  bool nesterov, first;
};

struct FlatKernels {
  const char* isa;
  void (*fill)(float* y, float value, std::size_t count);
  void (*copy)(float* y, const float* x, std::size_t count);
  void (*axpy)(float* y, float a, const float* x, std::size_t count);
  void (*scale)(float* y, float a, std::size_t count);
  void (*weighted_sum)(float* sum, const float* const* sources, const float* weights,
                       std::size_t sources_count, bool accumulate, std::size_t count);
  /// `velocity` may be null.
  void (*sgd_step)(float* next, const float* w, const float* gradient_sum, float* velocity,
                   const FlatSgd& with, std::size_t count);
};

const FlatKernels& flat_kernels_baseline();
const FlatKernels& flat_kernels_avx2();
const FlatKernels& flat_kernels_avx512();

/// Those this processor can run, the best one last: for tests. `flat_kernels_count` of them.
const FlatKernels& flat_kernels_available(std::size_t index);
std::size_t flat_kernels_count();

}  // namespace thalweg::gpu::host
