#pragma once

#include "actors/rules/decision.hpp"
#include "runtime/values/ids.hpp"

/// Fifth choice, `adopt`: what does a worker do with new parameters?
namespace thalweg::rules {

struct AdoptView {
  bool has_any = false;  ///< false before the first parameters
  Version current;
  Version offered;
  Round current_round;  ///< that opened with the current parameters
  Round offered_round;
};

enum class AdoptAction { replace, ignore };

class AdoptRule {
 public:
  virtual ~AdoptRule() = default;
  [[nodiscard]] virtual Decision<AdoptAction> decide(const AdoptView& view) const = 0;
};

/// `replace`: newer parameters take the place of the worker's, whose own moves, if any, are dropped.
class Replace final : public AdoptRule {
 public:
  [[nodiscard]] Decision<AdoptAction> decide(const AdoptView& view) const override {
    const bool next_round = view.offered == view.current && view.offered_round > view.current_round;
    if (view.has_any && next_round) {
      return {AdoptAction::replace,
              {"keeps version {} for round {}: the round before made no commit",
               {view.offered.value, view.offered_round.value}}};
    }
    if (view.has_any && view.offered <= view.current) {
      return {AdoptAction::ignore,
              {"ignores version {}: has version {}", {view.offered.value, view.current.value}}};
    }
    return {AdoptAction::replace, {"adopts version {}", {view.offered.value}}};
  }
};

}  // namespace thalweg::rules
