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

/// A contribution that an aggregator did not take, since its numbers are no good.
struct Refusal {
  enum class Why : std::uint8_t { not_finite, too_large } why = Why::not_finite;
  MemberId origin;
  std::vector<IndexRange> spent;  ///< what it was computed from
  bool again = false;             ///< the same samples had been refused before
};

/// What one worker did of a contribution.
struct Work {
  std::uint32_t worker = 0;
  std::uint64_t samples = 0;
  std::uint64_t steps = 0;
  std::uint64_t compute_ns = 0;
  /// Its clock after them: iterations it has finished, or, for who came later, those of the slowest worker at
  /// the time and its own since.
  std::uint64_t clock = 0;
};

/// Iterations of a contribution whose gradients were taken at one version.
struct Age {
  Version base;
  std::uint64_t iterations = 0;
};

struct Contribution {
  MemberId origin;
  MemberId via;  ///< the member of the receiving aggregator that it came by: `origin`, or who passed it on
  Incarnation incarnation;
  std::uint64_t seq = 0;  ///< counts the origin's contributions; (origin, incarnation, seq) identifies one
  Round round;
  Version base_version;   ///< of the parameters the gradients were taken at; of several, the oldest
  std::vector<Age> ages;  ///< of what several workers did; empty: all is of `base_version`

  std::uint64_t samples = 0;     ///< n
  std::uint64_t batch = 0;       ///< b, samples per step
  std::uint64_t steps = 0;       ///< h
  std::uint64_t iterations = 0;  ///< finished since the contribution before
  std::vector<IndexRange> spent;
  std::vector<Refusal> refused;  ///< what aggregators on the way did not take
  Score score;
  std::uint64_t compute_ns = 0;  ///< time the device worked for it, summed over workers
  std::vector<Work> work;        ///< the same by worker
  std::uint64_t serial = 0;      ///< a worker's: number of the newest batch in it (Batch)
  /// Of the payload, as a worker's stream measured it; a leader's is the sum of its members', which the norm
  /// of their sum cannot exceed. Not finite when the payload is not.
  double norm = 0;
  bool again = false;  ///< a worker's: these samples were refused before

  /// Sum over the samples of the gradient, or n·(w - x) where moves are sent, laid out as the model's slots.
  /// Null exactly when `samples` is 0.
  Payload payload;
};

/// Adds what `each` says to `total`, but for ids and payload.
void add_up(Contribution& total, const Contribution& each);

}  // namespace thalweg
