#include "gpu/tensor.hpp"

#include "runtime/check.hpp"

namespace thalweg::gpu {

Shape::Shape(std::initializer_list<std::size_t> dims) : rank_(dims.size()) {
  THALWEG_CHECK(dims.size() <= dims_.size(), "a tensor has at most four dimensions");
  std::size_t axis = 0;
  for (const auto dim : dims) dims_[axis++] = dim;
}

std::size_t Shape::count() const {
  std::size_t product = 1;
  for (std::size_t axis = 0; axis < rank_; ++axis) product *= dims_[axis];
  return product;
}

}  // namespace thalweg::gpu
