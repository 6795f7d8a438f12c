#pragma once

#include <cstddef>

/// Loops of our own that are compiled once per instruction set, and the tables the rest of the host reaches
/// them through. Plain pointers and numbers only: the units behind the tables are compiled with flags whose
/// code the rest of the program must not contain, so they share no inline function with it.
namespace thalweg::gpu::host {

/// Floats of a block in weighted_sum: with its source's block it fits into L1 (16 KiB).
inline constexpr std::size_t flat_block = 2048;

struct FlatSgd {
  float lr, momentum, weight_decay, gradient_scale;
  bool nesterov, first;
};

struct FlatAdamW {
  float keep, beta1, beta2, rest1, rest2, step_size, root_correction, eps, gradient_scale;
};

struct FlatCompensation {
  float lambda, gradient_scale, decay, rest, eps;
  bool clamp, first;
};

/// gpu/flat.hpp, element by element; the same bits on every instruction set. In host/flat_loops.cpp.
struct FlatKernels {
  void (*fill)(float* y, float value, std::size_t count);
  void (*copy)(float* y, const float* x, std::size_t count);
  void (*axpy)(float* y, float a, const float* x, std::size_t count);
  void (*scale)(float* y, float a, std::size_t count);
  /// `weights` may be null: all 1.
  void (*weighted_sum)(float* sum, const float* const* sources, const float* weights,
                       std::size_t sources_count, bool accumulate, std::size_t count);
  /// `velocity` may be null.
  void (*sgd_step)(float* next, const float* w, const float* gradient_sum, float* velocity,
                   const FlatSgd& with, std::size_t count);
  void (*adamw_step)(float* next, const float* w, const float* gradient_sum, float* m, float* v,
                     const FlatAdamW& with, std::size_t count);
  void (*move)(float* out, const float* base, const float* x, float n, std::size_t count);
  void (*mix)(float* y, const float* x, float share, std::size_t count);
  void (*shift)(float* out, const float* w, const float* x, const float* start, std::size_t count);
  /// `mean_square` may be null: the rate is constant.
  void (*compensate)(float* out, const float* gradient_sum, const float* w, const float* w_base,
                     float* mean_square, const FlatCompensation& with, std::size_t count);
  bool (*all_finite)(const float* x, std::size_t count);
  double (*squared_norm)(const float* x, std::size_t count);
};

/// Pooling sees an image as planes of height x width pixels, each of `lanes` channels side by side: 1 in
/// NCHW, 8 or 16 in oneDNN's blocked layouts, all of them in NHWC.
struct PoolShape {
  std::size_t planes, height, width, lanes;
  std::size_t out_height, out_width;
  std::size_t kernel, stride;
};

/// The gradient of a convolution's weights where the input has few channels and is plain, and the output
/// comes in blocks of `lanes` channels. `height` and `width` are those of the input with its padding.
struct ImageConvShape {
  std::size_t channels, height, width;
  std::size_t blocks, lanes, out_height, out_width;
  std::size_t kernel, stride;
};

/// Loops over images, in host/pool_loops.cpp and host/conv_loops.cpp.
struct ImageKernels {
  void (*max_pool)(const PoolShape& shape, const float* x, float* y);
  /// Overwrites `dx`. The first of a window's largest inputs gets the gradient.
  void (*max_pool_backward)(const PoolShape& shape, const float* x, const float* y, const float* dy,
                            float* dx);
  void (*average_pool)(const PoolShape& shape, const float* x, float* y);
  void (*average_pool_backward)(const PoolShape& shape, const float* dy, float* dx);

  /// One sample. Adds to `dweight`, [block][channel][kernel][kernel][lane]. Requires: lanes 8 or 16.
  void (*conv_weights)(const ImageConvShape& shape, const float* padded_x, const float* dy, float* dweight);
  /// One sample. Adds to `dbias`, [block][lane], after clearing `dy` where `y` is 0, if `y` is not null.
  void (*conv_bias)(const ImageConvShape& shape, const float* y, float* dy, float* dbias);
};

struct IsaKernels {
  const char* name;
  FlatKernels flat;
  ImageKernels image;
};

/// Those this processor can run, `isa_count()` of them, the best one last.
const IsaKernels& isa_kernels(std::size_t index);
std::size_t isa_count();
const IsaKernels& best_isa_kernels();

}  // namespace thalweg::gpu::host
