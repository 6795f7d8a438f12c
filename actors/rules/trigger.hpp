#pragma once

#include "actors/rules/decision.hpp"
#include "runtime/values/ids.hpp"

#include <cstdint>

/// Third choice, `trigger`: when does an aggregator close a round (at the root) or pass something up (at a
/// leader)? One rule per level of the tree.
namespace thalweg::rules {

struct TriggerView {
  Round round;
  std::uint64_t members = 0;  ///< of the round, frozen when it opened
  std::uint64_t arrived = 0;  ///< whose contribution is here
  std::uint64_t folded = 0;   ///< whose contribution is in the sum
};

enum class TriggerAction { close, wait };

class TriggerRule {
 public:
  virtual ~TriggerRule() = default;
  [[nodiscard]] virtual Decision<TriggerAction> decide(const TriggerView& view) const = 0;
};

/// `all`: when every member of the round has contributed and is folded.
class AllMembers final : public TriggerRule {
 public:
  [[nodiscard]] Decision<TriggerAction> decide(const TriggerView& view) const override {
    if (view.folded == view.members) {
      return {TriggerAction::close,
              {"closes round {}: all {} members are in", {view.round.value, view.members}}};
    }
    if (view.arrived == view.members) {
      return {TriggerAction::wait,
              {"round {} is being folded: {} of {} are in the sum",
               {view.round.value, view.folded, view.members}}};
    }
    return {TriggerAction::wait,
            {"round {} waits for members: {} of {} have contributed",
             {view.round.value, view.arrived, view.members}}};
  }
};

}  // namespace thalweg::rules
