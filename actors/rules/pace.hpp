#pragma once

#include "actors/rules/decision.hpp"
#include "runtime/values/ids.hpp"

/// Second choice, `pace`: when may a worker go on?
namespace thalweg::rules {

struct PaceView {
  Round round;      ///< of the batch that comes next
  Version version;  ///< of the newest parameters the worker has
};

enum class PaceAction { start, wait };

class PaceRule {
 public:
  virtual ~PaceRule() = default;
  [[nodiscard]] virtual Decision<PaceAction> may_start(const PaceView& view) const = 0;
};

/// `lockstep`: round r begins when version r, the commit of round r - 1, has arrived.
class Lockstep final : public PaceRule {
 public:
  [[nodiscard]] Decision<PaceAction> may_start(const PaceView& view) const override {
    if (view.version.value >= view.round.value) {
      return {PaceAction::start,
              {"starts round {}: version {} is here", {view.round.value, view.version.value}}};
    }
    return {PaceAction::wait,
            {"waits for version {} before round {}: has version {}",
             {view.round.value, view.round.value, view.version.value}}};
  }
};

}  // namespace thalweg::rules
