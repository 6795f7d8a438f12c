#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>

/// Activations between the layers of a network. Their layout in memory is the device's secret: an op object
/// says which layout it produces, and takes any layout it is told of.
namespace thalweg::gpu {

/// Logical dimensions, outermost first: [N, C, H, W] or [N, features].
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::size_t> dims);

  [[nodiscard]] std::size_t rank() const { return rank_; }
  [[nodiscard]] std::size_t operator[](std::size_t axis) const { return dims_[axis]; }
  [[nodiscard]] std::size_t count() const;  ///< product of the dimensions
  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::array<std::size_t, 4> dims_{};
  std::size_t rank_ = 0;
};

/// How a device lays a tensor out, when not plain row-major. Opaque outside the device that made it.
class Layout {
 public:
  virtual ~Layout() = default;
};

struct TensorDesc {
  Shape shape;
  std::shared_ptr<const Layout> layout;  ///< null: plain row-major
  std::size_t bytes = 0;                 ///< memory it needs, padding of the layout included

  /// A plain fp32 tensor.
  static TensorDesc plain(Shape shape) { return {shape, nullptr, shape.count() * sizeof(float)}; }
};

/// A view: whoever made the memory keeps it alive.
struct Tensor {
  TensorDesc desc;
  float* data = nullptr;  ///< 64-byte aligned, device memory
};

}  // namespace thalweg::gpu
