#pragma once

#include "runtime/values/ids.hpp"
#include "runtime/values/index_range.hpp"
#include "runtime/values/payload.hpp"

#include <thalweg/model.hpp>

#include <cstdint>
#include <vector>

/// What travels up, worker to leader to root: the sum of what some workers learned. Every field but the ids
/// is additive, so a leader's contribution is the sum of its members'; only the root divides.
namespace thalweg {

struct Contribution {
  MemberId origin;
  Incarnation incarnation;
  std::uint64_t seq = 0;  ///< counts the origin's contributions; (origin, incarnation, seq) identifies one
  Round round;
  Version base_version;  ///< of the parameters the gradients were taken at

  std::uint64_t samples = 0;     ///< n
  std::uint64_t batch = 0;       ///< b, samples per step
  std::uint64_t steps = 0;       ///< h
  std::uint64_t iterations = 0;  ///< finished since the contribution before
  std::vector<IndexRange> spent;
  Score score;
  std::uint64_t compute_ns = 0;  ///< time the device worked for it, summed over workers

  /// Sum over the samples of the gradient, laid out as the model's slots. Null exactly when `samples` is 0.
  Payload payload;
};

}  // namespace thalweg
