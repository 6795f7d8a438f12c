#pragma once

#include "runtime/pool/task_pool.hpp"

#include <thalweg/model.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

/// How a step walks over a flat vector: in blocks that fit into a core's first cache, so that a block can be
/// looked at right after it is written, and over a pool where the vector is large.
namespace thalweg::models {

/// Neighbouring slots that weight decay treats alike: as few kernel launches as possible.
struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool decay = true;
};

/// Together they cover the flat vector, padding included.
std::vector<Stretch> stretches_of(std::span<const Slot> slots);

/// Calls `step(from, count, decay)` once on each block of the stretches, over `pool` (null: on the calling
/// thread) where there is enough for it. Returns whether every call returned true. Blocks may run at the same
/// time, in any order.
bool in_blocks(std::span<const Stretch> stretches, TaskPool* pool,
               const std::function<bool(std::size_t from, std::size_t count, bool decay)>& step);

}  // namespace thalweg::models
