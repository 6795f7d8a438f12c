#pragma once

#include "gpu/host/isa_kernels.hpp"

#include <cstddef>

/// Included only by the units that are compiled once per instruction set, with THALWEG_ISA as its name (see
/// gpu/CMakeLists.txt). Everything in them is local to the unit or in a namespace of that name, so that the
/// linker cannot put one instruction set's code in place of another's.
#define THALWEG_TEXT_OF(name) #name
#define THALWEG_TEXT(name) THALWEG_TEXT_OF(name)

namespace thalweg::gpu::host::THALWEG_ISA {

/// Defined by flat_loops.cpp, pool_loops.cpp and conv_loops.cpp.
FlatKernels flat_kernels();
void add_pool_kernels(ImageKernels& kernels);
void add_conv_kernels(ImageKernels& kernels);

namespace {

/// `Lanes` floats that are computed together: vectors of GCC's and clang's, on any processor. One lane is a
/// plain float, with the same operators.
template <std::size_t Lanes>
struct VectorOf {
  typedef float Type __attribute__((vector_size(Lanes * sizeof(float))));
};
template <>
struct VectorOf<1> {
  using Type = float;
};

template <class Vector>
inline Vector load(const float* from) {
  Vector vector;
  __builtin_memcpy(&vector, from, sizeof(Vector));
  return vector;
}

template <class Vector>
inline void store(float* to, const Vector& vector) {
  __builtin_memcpy(to, &vector, sizeof(Vector));
}

}  // namespace
}  // namespace thalweg::gpu::host::THALWEG_ISA
