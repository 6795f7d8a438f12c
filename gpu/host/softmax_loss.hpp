#pragma once

#include <thalweg/model.hpp>

#include <cstddef>
#include <cstdint>

namespace thalweg::gpu::host {

/// Softmax and cross-entropy over plain `[samples, classes]` logits, in fp32; losses are summed in double, in
/// the order of the samples. `dlogits` may be null. One function for every device of the host, never inlined,
/// so that all of them give the same bits.
///
/// Loss of a sample with logits z and label y: log Σ_c exp(z_c) - z_y, with the largest logit taken out of
/// the sum first, so that nothing overflows; its gradient: softmax(z)_c - [c = y].
Score softmax_cross_entropy(const float* logits, const std::int32_t* labels, float* dlogits,
                            std::size_t samples, std::size_t classes);

}  // namespace thalweg::gpu::host
