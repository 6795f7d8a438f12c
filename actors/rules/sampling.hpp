#pragma once

#include "runtime/values/ids.hpp"
#include "runtime/values/index_range.hpp"

#include <thalweg/result.hpp>

#include <cstdint>
#include <vector>

/// Which samples a round takes, in lockstep: round after round the next Σ b_i positions of the epoch's
/// permutation, cut in member order. The plan of an undisturbed run, a function of the round's number alone,
/// so that every tree over the same workers sees the same samples; rules/allotment.hpp follows it and deals
/// with what goes wrong.
namespace thalweg::rules {

/// What each worker takes of one round.
struct RoundShare {
  Round round;
  std::vector<IndexRange> ranges;  ///< by worker number; count 0: nothing this round
  std::vector<bool> again = {};    ///< by worker number: refused once already; empty: none of them
  /// By worker number: samples of a step, where a share takes several; empty: a share is one step.
  std::vector<std::uint64_t> steps_of = {};
};

struct SamplingOptions {
  std::uint64_t samples_per_epoch = 0;
  std::vector<std::uint64_t> batches;  ///< b_i by worker number, each at least 1
  bool drop_last = false;
  std::uint64_t epochs = 0;  ///< length of the run; ignored when `rounds` is not 0
  std::uint64_t rounds = 0;
};

class LockstepSampling {
 public:
  /// Fails: `invalid` when a round's batch is larger than the data set.
  static Result<LockstepSampling> make(SamplingOptions options);

  [[nodiscard]] std::uint64_t rounds() const { return rounds_; }  ///< in the whole run
  [[nodiscard]] std::uint64_t rounds_per_epoch() const { return rounds_per_epoch_; }
  /// Of the data set, and of those the ones that an epoch uses: fewer when the last, short round is dropped.
  [[nodiscard]] std::uint64_t samples_per_epoch() const { return options_.samples_per_epoch; }
  [[nodiscard]] std::uint64_t samples_used_per_epoch() const { return samples_before(rounds_per_epoch_); }
  [[nodiscard]] const SamplingOptions& options() const { return options_; }
  /// Samples the first `rounds` rounds commit; with rounds() the budget of the run.
  [[nodiscard]] std::uint64_t samples_before(std::uint64_t rounds) const;

  /// Requires: round < rounds().
  [[nodiscard]] RoundShare share(Round round) const;

 private:
  explicit LockstepSampling(SamplingOptions options);

  SamplingOptions options_;
  std::uint64_t global_batch_ = 0;
  std::uint64_t rounds_per_epoch_ = 0;
  std::uint64_t rounds_ = 0;
};

/// Shares `count` in proportion to `weights` by largest remainder; ties go to the lower index. The shares add
/// up to `count`. Requires: weights not all 0.
std::vector<std::uint64_t> largest_remainder(std::uint64_t count, const std::vector<std::uint64_t>& weights);

}  // namespace thalweg::rules
