#pragma once

#include "actors/rules/decision.hpp"
#include "runtime/values/ids.hpp"

/// Second choice, `pace`: when may a worker go on?
namespace thalweg::rules {

struct PaceView {
  Round round;  ///< of the batch that comes next
  Round open;   ///< the round that opened with the newest parameters the worker has
};

enum class PaceAction { start, wait };

class PaceRule {
 public:
  virtual ~PaceRule() = default;
  [[nodiscard]] virtual Decision<PaceAction> may_start(const PaceView& view) const = 0;
};

/// `lockstep`: round r begins when it is open: the round before it is closed, and what came of it has
/// arrived.
class Lockstep final : public PaceRule {
 public:
  [[nodiscard]] Decision<PaceAction> may_start(const PaceView& view) const override {
    if (view.open >= view.round)
      return {PaceAction::start, {"starts round {}: it is open", {view.round.value}}};
    return {PaceAction::wait,
            {"waits for the end of round {} before round {}", {view.open.value, view.round.value}}};
  }
};

}  // namespace thalweg::rules
