#pragma once

#include "gpu/buffer.hpp"
#include "runtime/pool/task_pool.hpp"
#include "runtime/values/payload.hpp"

#include <span>
#include <vector>

/// The arithmetic of an aggregator: many flat vectors into one.
namespace thalweg::actors {

/// Above this many bytes of sum, folds and optimizer steps leave the handler for the task pool.
inline constexpr std::size_t fold_inline_bytes_max = std::size_t{1} << 20;

/// sum (+)= sources, each times its weight (no weights: all 1), element by element in the order of the
/// sources; with `accumulate` false the first source starts the sum. Split over `pool` when it is not null:
/// the bits are the same.
void fold(gpu::Buffer& sum, std::span<const Payload> sources, std::span<const float> weights, bool accumulate,
          TaskPool* pool);

}  // namespace thalweg::actors
