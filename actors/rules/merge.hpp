#pragma once

#include "actors/rules/decision.hpp"
#include "runtime/values/ids.hpp"

#include <cstdint>

/// Fourth choice, `merge`: what does a round do to w? Only the root merges; leaders only add.
namespace thalweg::rules {

struct MergeView {
  Round round;
  std::uint64_t samples = 0;  ///< in the round's sum
};

enum class MergeAction { step, skip };

class MergeRule {
 public:
  virtual ~MergeRule() = default;
  [[nodiscard]] virtual Decision<MergeAction> decide(const MergeView& view) const = 0;
};

/// Sample-weighted mean: the optimizer takes one step along (sum of gradients) / (number of samples).
class SampleMean final : public MergeRule {
 public:
  [[nodiscard]] Decision<MergeAction> decide(const MergeView& view) const override {
    if (view.samples == 0) {
      return {MergeAction::skip, {"round {} holds no sample: no commit", {view.round.value}}};
    }
    return {MergeAction::step,
            {"commits round {} as the mean over {} samples", {view.round.value, view.samples}}};
  }
};

}  // namespace thalweg::rules
