#pragma once

#include "actors/rules/decision.hpp"
#include "runtime/values/ids.hpp"

#include <cstdint>

/// Second choice, `pace`: when may a worker go on?
namespace thalweg::rules {

struct PaceView {
  Round round;                   ///< that the next phase is for
  Round open;                    ///< that opened with the newest parameters the worker has
  std::uint64_t unanswered = 0;  ///< contributions that the worker's parent has not answered
  std::uint64_t clock = 0;       ///< iterations the worker has finished
  std::uint64_t slowest = 0;     ///< the same of the slowest worker, as far as is known here
};

enum class PaceAction { start, wait };

struct PaceRule {
  enum class Kind {
    lockstep,    ///< round r begins when it is open: what came of round r - 1 has arrived
    reply,       ///< one contribution at a time is under way, then comes its parent's answer
    stale,       ///< as reply (or free), and nobody is more than `gap` iterations ahead of the slowest
    one_behind,  ///< works on while the round before is under way
    free,        ///< never waits
  } kind = Kind::lockstep;
  std::uint64_t gap = 0;            ///< stale only
  bool answered = true;             ///< stale only: an answer is waited for, too
  std::uint64_t warmup_rounds = 0;  ///< in lockstep, first

  /// Whether aggregators answer each contribution.
  [[nodiscard]] bool replies() const { return kind == Kind::reply || (kind == Kind::stale && answered); }

  [[nodiscard]] Decision<PaceAction> may_start(const PaceView& view) const {
    const bool warming_up = view.round.value < warmup_rounds;
    switch (warming_up ? Kind::lockstep : kind) {
      case Kind::lockstep:
        if (view.open >= view.round)
          return {PaceAction::start, {"starts round {}: it is open", {view.round.value}}};
        return {PaceAction::wait,
                {"waits for the end of round {} before round {}", {view.open.value, view.round.value}}};
      case Kind::one_behind:
        if (view.open.value + 1 >= view.round.value) {
          return {PaceAction::start,
                  {"starts round {}: of the rounds before at most one is under way", {view.round.value}}};
        }
        return {PaceAction::wait,
                {"waits for the end of round {}, two before round {}", {view.open.value, view.round.value}}};
      case Kind::stale:
        if (view.clock > gap && view.clock - gap > view.slowest) {
          return {PaceAction::wait,
                  {"waits after iteration {}: the slowest worker has finished {}, and {} more are allowed",
                   {view.clock, view.slowest, gap}}};
        }
        if (!answered) break;
        [[fallthrough]];
      case Kind::reply:
        if (view.unanswered > 0) {
          return {PaceAction::wait,
                  {"waits for the answer to its contribution of iteration {}", {view.clock}}};
        }
        break;
      case Kind::free:
        break;
    }
    return {PaceAction::start, {"starts after iteration {}", {view.clock}}};
  }
};

}  // namespace thalweg::rules
