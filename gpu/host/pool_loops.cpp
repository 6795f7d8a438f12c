#include "gpu/host/isa_unit.hpp"

/// Pooling, a vector of channels at a time. oneDNN's own max pooling keeps an index byte per output and takes
/// ten times as long where a block of channels is not full; comparing again with y needs no memory at all.
namespace thalweg::gpu::host::THALWEG_ISA {
namespace {

/// Calls `body(x_offset, y_offset)` for every output vector, x_offset being its window's upper left corner.
template <std::size_t Lanes, class Body>
inline void for_each_window(const PoolShape& shape, const Body& body) {
  const std::size_t row = shape.width * shape.lanes;
  std::size_t y = 0;
  for (std::size_t plane = 0; plane < shape.planes; ++plane) {
    for (std::size_t out_row = 0; out_row < shape.out_height; ++out_row) {
      const std::size_t start = (plane * shape.height + out_row * shape.stride) * row;
      for (std::size_t column = 0; column < shape.out_width; ++column) {
        for (std::size_t lane = 0; lane < shape.lanes; lane += Lanes, y += Lanes) {
          body(start + column * shape.stride * shape.lanes + lane, y);
        }
      }
    }
  }
}

/// Whether every input is in exactly one window, so that what is written to it first is final.
bool windows_tile(const PoolShape& shape) {
  return shape.stride == shape.kernel && shape.out_height * shape.kernel == shape.height &&
         shape.out_width * shape.kernel == shape.width;
}

void clear(const PoolShape& shape, float* dx) {
  __builtin_memset(dx, 0, shape.planes * shape.height * shape.width * shape.lanes * sizeof(float));
}

template <std::size_t Lanes>
void max_pool(const PoolShape& shape, const float* x, float* y) {
  using Vector = typename VectorOf<Lanes>::Type;
  for_each_window<Lanes>(shape, [&](std::size_t at_x, std::size_t at_y) {
    Vector largest = load<Vector>(x + at_x);
    for (std::size_t kh = 0; kh < shape.kernel; ++kh) {
      for (std::size_t kw = 0; kw < shape.kernel; ++kw) {
        const Vector value = load<Vector>(x + at_x + (kh * shape.width + kw) * shape.lanes);
        largest = value > largest ? value : largest;
      }
    }
    store(y + at_y, largest);
  });
}

template <std::size_t Lanes, bool tile>
void max_pool_backward(const PoolShape& shape, const float* x, const float* y, const float* dy, float* dx) {
  using Vector = typename VectorOf<Lanes>::Type;
  for_each_window<Lanes>(shape, [&](std::size_t at_x, std::size_t at_y) {
    const Vector largest = load<Vector>(y + at_y);
    const Vector zero{};
    Vector left = load<Vector>(dy + at_y);  // what no input of the window has got yet
    for (std::size_t kh = 0; kh < shape.kernel; ++kh) {
      for (std::size_t kw = 0; kw < shape.kernel; ++kw) {
        const std::size_t at = at_x + (kh * shape.width + kw) * shape.lanes;
        const auto found = load<Vector>(x + at) == largest;
        const Vector share = found ? left : zero;
        left = found ? zero : left;
        store<Vector>(dx + at, tile ? share : load<Vector>(dx + at) + share);
      }
    }
  });
}

template <std::size_t Lanes>
void average_pool(const PoolShape& shape, const float* x, float* y) {
  using Vector = typename VectorOf<Lanes>::Type;
  const float area = static_cast<float>(shape.kernel * shape.kernel);
  for_each_window<Lanes>(shape, [&](std::size_t at_x, std::size_t at_y) {
    Vector sum{};
    for (std::size_t kh = 0; kh < shape.kernel; ++kh) {
      for (std::size_t kw = 0; kw < shape.kernel; ++kw) {
        sum += load<Vector>(x + at_x + (kh * shape.width + kw) * shape.lanes);
      }
    }
    store<Vector>(y + at_y, sum / area);
  });
}

template <std::size_t Lanes, bool tile>
void average_pool_backward(const PoolShape& shape, const float* dy, float* dx) {
  using Vector = typename VectorOf<Lanes>::Type;
  const float area = static_cast<float>(shape.kernel * shape.kernel);
  for_each_window<Lanes>(shape, [&](std::size_t at_x, std::size_t at_y) {
    const Vector share = load<Vector>(dy + at_y) / area;
    for (std::size_t kh = 0; kh < shape.kernel; ++kh) {
      for (std::size_t kw = 0; kw < shape.kernel; ++kw) {
        const std::size_t at = at_x + (kh * shape.width + kw) * shape.lanes;
        store<Vector>(dx + at, tile ? share : load<Vector>(dx + at) + share);
      }
    }
  });
}

// From here on the lanes of the shape become those of a type.

void any_max_pool(const PoolShape& shape, const float* x, float* y) {
  if (shape.lanes % 16 == 0) return max_pool<16>(shape, x, y);
  if (shape.lanes % 8 == 0) return max_pool<8>(shape, x, y);
  max_pool<1>(shape, x, y);
}

template <bool tile>
void any_max_pool_backward(const PoolShape& shape, const float* x, const float* y, const float* dy,
                           float* dx) {
  if (shape.lanes % 16 == 0) return max_pool_backward<16, tile>(shape, x, y, dy, dx);
  if (shape.lanes % 8 == 0) return max_pool_backward<8, tile>(shape, x, y, dy, dx);
  max_pool_backward<1, tile>(shape, x, y, dy, dx);
}

void max_pool_backward_into(const PoolShape& shape, const float* x, const float* y, const float* dy,
                            float* dx) {
  if (windows_tile(shape)) return any_max_pool_backward<true>(shape, x, y, dy, dx);
  clear(shape, dx);
  any_max_pool_backward<false>(shape, x, y, dy, dx);
}

void any_average_pool(const PoolShape& shape, const float* x, float* y) {
  if (shape.lanes % 16 == 0) return average_pool<16>(shape, x, y);
  if (shape.lanes % 8 == 0) return average_pool<8>(shape, x, y);
  average_pool<1>(shape, x, y);
}

template <bool tile>
void any_average_pool_backward(const PoolShape& shape, const float* dy, float* dx) {
  if (shape.lanes % 16 == 0) return average_pool_backward<16, tile>(shape, dy, dx);
  if (shape.lanes % 8 == 0) return average_pool_backward<8, tile>(shape, dy, dx);
  average_pool_backward<1, tile>(shape, dy, dx);
}

void average_pool_backward_into(const PoolShape& shape, const float* dy, float* dx) {
  if (windows_tile(shape)) return any_average_pool_backward<true>(shape, dy, dx);
  clear(shape, dx);
  any_average_pool_backward<false>(shape, dy, dx);
}

}  // namespace

void add_pool_kernels(ImageKernels& kernels) {
  kernels.max_pool = any_max_pool;
  kernels.max_pool_backward = max_pool_backward_into;
  kernels.average_pool = any_average_pool;
  kernels.average_pool_backward = average_pool_backward_into;
}

}  // namespace thalweg::gpu::host::THALWEG_ISA
