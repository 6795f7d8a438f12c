#pragma once

#include <thalweg/config.hpp>

#include <cstdint>

namespace thalweg::models {

/// The learning rate as a function of committed samples, in every method alike.
/// Warm-up: linear over the samples of the first `train.warmup_steps` rounds
/// (lr·min(1, (p + global batch) / warmup) at position p). Then, with t the share of the rest of the
/// budget that is committed (0..1): constant lr; step lr·factor^(number of step_at <= share of the whole
/// budget); cosine lr·(1 + cos πt) / 2.
class Schedule {
 public:
  /// `budget_samples`: committed by the whole run.
  Schedule(const Config& config, std::uint64_t budget_samples);

  /// For the round that begins after `committed_samples`.
  [[nodiscard]] double lr_at(std::uint64_t committed_samples) const;

 private:
  Config::Train train_;
  std::uint64_t global_batch_;
  std::uint64_t budget_;
};

}  // namespace thalweg::models
