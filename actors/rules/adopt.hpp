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
  /// One behind: the next phase has yet to begin, and is to begin at the parameters before these.
  bool early = false;
};

enum class AdoptAction {
  take,
  ignore,
  later,  ///< when the phase has begun
};

struct AdoptRule {
  /// How a replica is brought to parameters that the rule takes.
  enum class Kind {
    replace,     ///< it becomes them; its own moves are dropped
    keep_local,  ///< they, and its own moves that are not committed
    eager,       ///< the worker's own outer step, with what is known of the mean (DiLoCo, eager updates)
    mix,         ///< (1 - share) of its own, `share` of them
  } kind = Kind::replace;
  double share = 1;  ///< mix only

  [[nodiscard]] Decision<AdoptAction> decide(const AdoptView& view) const {
    const bool next_round = view.offered == view.current && view.offered_round > view.current_round;
    if (view.has_any && next_round) {
      return {AdoptAction::take,
              {"keeps version {} for round {}: the round before made no commit",
               {view.offered.value, view.offered_round.value}}};
    }
    if (view.has_any && view.offered <= view.current) {
      return {AdoptAction::ignore,
              {"ignores version {}: has version {}", {view.offered.value, view.current.value}}};
    }
    if (view.has_any && view.early) {
      return {AdoptAction::later,
              {"holds version {} back until round {} has begun at version {}",
               {view.offered.value, view.offered_round.value, view.current.value}}};
    }
    return {AdoptAction::take, {"adopts version {}", {view.offered.value}}};
  }
};

}  // namespace thalweg::rules
