#pragma once

#include "actors/rules/decision.hpp"
#include "runtime/values/ids.hpp"

#include <cstdint>

/// First choice, `local`: what does a worker do before it contributes?
namespace thalweg::rules {

/// A phase: the steps between two contributions of a worker.
struct LocalView {
  std::uint64_t steps = 0;  ///< done in this phase
  Round round;              ///< the one that the phase is for
  Round open;               ///< that opened with the newest parameters the worker has
  bool share_done = false;  ///< planned rounds only: the worker's share of this round is computed
};

enum class LocalAction { contribute, go_on };

struct LocalRule {
  enum class Kind {
    steps,  ///< `steps(H)`: so many
    free,   ///< `free(H_max)`: as long as the phase before is under way, at least 1 and at most so many
  } kind = Kind::steps;
  std::uint64_t steps = 1;
  std::uint64_t warmup_rounds = 0;  ///< with one step each, first
  /// A phase is the worker's share of the round, as the scheduler has planned it (rules/allotment.hpp).
  bool planned = true;

  /// Most steps of a phase for `round`.
  [[nodiscard]] std::uint64_t most(Round round) const { return round.value < warmup_rounds ? 1 : steps; }

  [[nodiscard]] Decision<LocalAction> after_step(const LocalView& view) const {
    if (planned) {
      if (view.share_done) {
        return {
            LocalAction::contribute,
            {"contributes to round {} after {} steps: its share is done", {view.round.value, view.steps}}};
      }
      return {LocalAction::go_on, {"goes on with its share of round {}", {view.round.value}}};
    }
    if (view.steps >= most(view.round)) {
      return {LocalAction::contribute,
              {"contributes to round {} after {} steps, the most there are", {view.round.value, view.steps}}};
    }
    if (kind == Kind::free && view.open >= view.round) {
      return {LocalAction::contribute,
              {"contributes to round {} after {} steps: the round before is closed",
               {view.round.value, view.steps}}};
    }
    return {LocalAction::go_on, {"goes on with round {} after {} steps", {view.round.value, view.steps}}};
  }
};

}  // namespace thalweg::rules
