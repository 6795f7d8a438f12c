#include "gpu/host/isa_unit.hpp"

/// The weights' gradient of a network's first convolution, whose one to three input channels oneDNN would pad
/// to a block of eight.
///
///     dweight[c][kh][kw][lane] += x[c][row * stride + kh][column * stride + kw] * dy[row][column][lane]
///
/// summed over rows and columns. A tile of 2 x 5 weights (each a vector over the lanes) stays in registers
/// while one pass over dy adds to all of it.
namespace thalweg::gpu::host::THALWEG_ISA {
namespace {

constexpr std::size_t tile_rows = 2, tile_columns = 5;

/// Adds to `Rows` x `Columns` weights, the first of them at `dweight`, from inputs starting at `x`.
template <class Vector, std::size_t Rows, std::size_t Columns>
void add_tile(const ImageConvShape& shape, const float* x, const float* dy, float* dweight) {
  Vector sums[Rows][Columns] = {};
  for (std::size_t row = 0; row < shape.out_height; ++row) {
    const float* x_row = x + row * shape.stride * shape.width;
    for (std::size_t column = 0; column < shape.out_width; ++column, dy += shape.lanes) {
      const Vector gradient = load<Vector>(dy);
      const float* corner = x_row + column * shape.stride;
      for (std::size_t i = 0; i < Rows; ++i) {
        for (std::size_t j = 0; j < Columns; ++j) sums[i][j] += gradient * corner[i * shape.width + j];
      }
    }
  }
  for (std::size_t i = 0; i < Rows; ++i) {
    for (std::size_t j = 0; j < Columns; ++j) {
      float* at = dweight + (i * shape.kernel + j) * shape.lanes;
      store<Vector>(at, load<Vector>(at) + sums[i][j]);
    }
  }
}

template <class Vector, std::size_t Rows>
void add_columns(const ImageConvShape& shape, std::size_t columns, const float* x, const float* dy,
                 float* dweight) {
  switch (columns) {
    case 1:
      return add_tile<Vector, Rows, 1>(shape, x, dy, dweight);
    case 2:
      return add_tile<Vector, Rows, 2>(shape, x, dy, dweight);
    case 3:
      return add_tile<Vector, Rows, 3>(shape, x, dy, dweight);
    case 4:
      return add_tile<Vector, Rows, 4>(shape, x, dy, dweight);
    default:
      return add_tile<Vector, Rows, tile_columns>(shape, x, dy, dweight);
  }
}

/// One block of output channels.
template <class Vector>
void add_block(const ImageConvShape& shape, const float* padded_x, const float* dy, float* dweight) {
  for (std::size_t channel = 0; channel < shape.channels; ++channel) {
    for (std::size_t kh = 0; kh < shape.kernel; kh += tile_rows) {
      for (std::size_t kw = 0; kw < shape.kernel; kw += tile_columns) {
        const float* x = padded_x + (channel * shape.height + kh) * shape.width + kw;
        float* weights = dweight + ((channel * shape.kernel + kh) * shape.kernel + kw) * shape.lanes;
        const std::size_t left = shape.kernel - kw, columns = left < tile_columns ? left : tile_columns;
        if (shape.kernel - kh >= tile_rows) {
          add_columns<Vector, tile_rows>(shape, columns, x, dy, weights);
        } else {
          add_columns<Vector, 1>(shape, columns, x, dy, weights);
        }
      }
    }
  }
}

template <class Vector>
void bias_of_block(std::size_t pixels, const float* y, float* dy, float* dbias) {
  Vector sum{};
  for (std::size_t i = 0; i < pixels; ++i, dy += sizeof(Vector) / sizeof(float)) {
    Vector gradient = load<Vector>(dy);
    if (y != nullptr) {
      gradient = load<Vector>(y) > 0 ? gradient : Vector{};
      y += sizeof(Vector) / sizeof(float);
      store(dy, gradient);
    }
    sum += gradient;
  }
  store<Vector>(dbias, load<Vector>(dbias) + sum);
}

void conv_weights(const ImageConvShape& shape, const float* padded_x, const float* dy, float* dweight) {
  const std::size_t dy_block = shape.out_height * shape.out_width * shape.lanes;
  const std::size_t weight_block = shape.channels * shape.kernel * shape.kernel * shape.lanes;
  for (std::size_t block = 0; block < shape.blocks; ++block) {
    if (shape.lanes == 16) {
      add_block<VectorOf<16>::Type>(shape, padded_x, dy + block * dy_block, dweight + block * weight_block);
    } else {
      add_block<VectorOf<8>::Type>(shape, padded_x, dy + block * dy_block, dweight + block * weight_block);
    }
  }
}

void conv_bias(const ImageConvShape& shape, const float* y, float* dy, float* dbias) {
  const std::size_t pixels = shape.out_height * shape.out_width;
  for (std::size_t block = 0; block < shape.blocks; ++block) {
    const std::size_t at = block * pixels * shape.lanes;
    const float* y_block = y == nullptr ? nullptr : y + at;
    if (shape.lanes == 16) {
      bias_of_block<VectorOf<16>::Type>(pixels, y_block, dy + at, dbias + block * 16);
    } else {
      bias_of_block<VectorOf<8>::Type>(pixels, y_block, dy + at, dbias + block * 8);
    }
  }
}

}  // namespace

void add_conv_kernels(ImageKernels& kernels) {
  kernels.conv_weights = conv_weights;
  kernels.conv_bias = conv_bias;
}

}  // namespace thalweg::gpu::host::THALWEG_ISA
