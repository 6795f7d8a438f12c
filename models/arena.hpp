#pragma once

#include <cstddef>
#include <span>
#include <vector>

/// One piece of memory for all tensors of a network's step, shared by those that are never needed at the same
/// time. A pure plan; the memory is the device's.
namespace thalweg::models {

/// A tensor's size and the steps of the computation in which its contents matter, both ends included.
struct Lifetime {
  std::size_t floats = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

struct ArenaPlan {
  std::vector<std::size_t> offsets;  ///< in floats, multiples of 16 (64 bytes), in the order of the lifetimes
  std::size_t floats = 0;            ///< of the whole arena
};

/// Places the largest tensor first, each at the lowest offset where it meets no other that lives at the same
/// time. (Greedy by size: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference",
/// 2020.)
ArenaPlan plan_arena(std::span<const Lifetime> lifetimes);

}  // namespace thalweg::models
