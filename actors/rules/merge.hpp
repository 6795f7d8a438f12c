#pragma once

#include "actors/rules/decision.hpp"
#include "actors/rules/staleness.hpp"
#include "runtime/values/ids.hpp"

#include <cstdint>

/// Fourth choice, `merge`: what does a round do to w? Only the root merges; leaders only add.
namespace thalweg::rules {

struct MergeView {
  Round round;
  std::uint64_t samples = 0;  ///< n, in the round's sum
  std::uint64_t batch = 0;    ///< b, of its contributions
  double mean_batch = 0;      ///< B/λ: global batch over workers
};

enum class MergeAction { step, skip };

struct MergeDecision {
  MergeAction action = MergeAction::step;
  double lr_factor = 1;  ///< of the step
  Reason reason;
};

struct MergeRule {
  enum class Kind {
    mean,   ///< one step along the mean over the samples
    each,   ///< the same of each contribution, scaled with n/(B/λ), so that unequal batches do not bias
    steps,  ///< along the mean gradient, as far as the steps together went: H̄ = Σn/Σb (FLSGD)
  } kind = Kind::mean;
  StalenessScaling scaling = StalenessScaling::none;

  /// What a gradient is corrected for, and how: rules of models/delay_compensation.hpp.
  enum class Compensation { none, constant, adaptive } compensation = Compensation::none;
  /// The parameters w_b that it is measured from: those of the version before, or those that its origin had.
  enum class Base { previous, origin } base = Base::previous;
  double lambda = 0;  ///< 0: the mode's default
  bool clamp = true;

  [[nodiscard]] MergeDecision decide(const MergeView& view) const {
    if (view.samples == 0) {
      return {MergeAction::skip, 1, {"round {} holds no sample: no commit", {view.round.value}}};
    }
    const auto samples = static_cast<double>(view.samples);
    switch (kind) {
      case Kind::each:
        return {MergeAction::step,
                samples / view.mean_batch,
                {"commits a contribution of {} samples as round {}", {view.samples, view.round.value}}};
      case Kind::steps:
        return {MergeAction::step,
                samples / static_cast<double>(view.batch),
                {"commits round {} as the mean over {} samples, in steps of {}",
                 {view.round.value, view.samples, view.batch}}};
      case Kind::mean:
        break;
    }
    return {MergeAction::step,
            1,
            {"commits round {} as the mean over {} samples", {view.round.value, view.samples}}};
  }
};

}  // namespace thalweg::rules
