#pragma once

#include "runtime/pool/task_pool.hpp"

#include <cstdint>
#include <span>

namespace thalweg::models {

/// What a sum of `samples` gradients is scaled with so that their mean is no longer than `clip_norm`: a
/// factor of at most 1, and 1 where `clip_norm` is 0 (torch.nn.utils.clip_grad_norm_: clip_norm / (norm +
/// 1e-6), at most 1). The root clips its sum with it before a step, a worker its own before a local one.
/// Split over `pool` (null: not), with the same bits. For a sum that is not finite the factor means nothing.
/// Requires: samples > 0 where clip_norm is not 0.
[[nodiscard]] double clip_scale(std::span<const float> gradient_sum, std::uint64_t samples, double clip_norm,
                                TaskPool* pool);

}  // namespace thalweg::models
