#pragma once

#include "actors/rules/decision.hpp"
#include "runtime/values/ids.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

/// Third choice, `trigger`: when does an aggregator close a round (at the root) or pass something up (at a
/// leader)? One rule per level of the tree.
namespace thalweg::rules {

struct TriggerView {
  Round round;
  std::uint64_t members = 0;          ///< that are asked to contribute to the round
  std::uint64_t arrived = 0;          ///< contributions that are here
  std::uint64_t folded = 0;           ///< of which are in the sum
  std::uint64_t workers = 0;          ///< λ, in the whole tree
  bool drained = false;               ///< nothing more comes than what is here
  std::uint64_t worth = 0;            ///< of those that are here, with samples, or refusals, in them
  std::chrono::nanoseconds waited{};  ///< since so many of these had arrived as `quorum` wants
  /// Whose contributions come one by one: as many can be under way when each waits for its answer.
  std::uint64_t contributors = std::numeric_limits<std::uint64_t>::max();
};

enum class TriggerAction { close, wait };

struct TriggerRule {
  enum class Kind {
    all,       ///< every member has contributed
    any,       ///< each contribution at once
    count,     ///< so many contributions, from whomever
    progress,  ///< root only: pulls what leaders hold when enough iterations are unpulled (rules/pull.hpp)
    quorum,    ///< so many members, and a grace for the others; who is late counts in the next round
    forward,   ///< leaders only: each contribution goes on, unfolded
    pulled,    ///< leaders only: folded until asked for
  } kind = Kind::all;
  std::uint64_t count = 1;
  std::uint64_t soft = 0;  ///< n of n-softsync: `count` is max(1, ⌊λ/n⌋); 0: it is as it stands
  std::chrono::milliseconds grace{};

  /// Whether a member contributes once a round. Otherwise contributions count as they arrive.
  [[nodiscard]] bool by_member() const {
    return kind == Kind::all || kind == Kind::progress || kind == Kind::quorum;
  }

  /// Whether every member is asked for a contribution in every round.
  [[nodiscard]] bool asks_everybody() const { return kind == Kind::all || kind == Kind::quorum; }

  [[nodiscard]] std::uint64_t needed(std::uint64_t workers) const {
    return soft == 0 ? count : std::max<std::uint64_t>(1, workers / soft);
  }

  [[nodiscard]] Decision<TriggerAction> decide(const TriggerView& view) const {
    switch (kind) {
      case Kind::any:
      case Kind::count: {
        // More than there are who contribute never come.
        const auto most = std::max<std::uint64_t>(1, view.contributors);
        const auto enough = view.drained ? 1 : std::min(needed(view.workers), most);
        if (view.arrived >= enough) {
          return {
              TriggerAction::close,
              {"closes round {}: {} contributions of {} are in", {view.round.value, view.arrived, enough}}};
        }
        return {
            TriggerAction::wait,
            {"round {} waits for contributions: {} of {} are in", {view.round.value, view.arrived, enough}}};
      }
      case Kind::quorum:
        if (view.worth >= count && view.arrived < view.members && view.waited >= grace) {
          return {TriggerAction::close,
                  {"closes round {}: {} of {} members are in, and the others had their time",
                   {view.round.value, view.arrived, view.members}}};
        }
        break;
      default:
        break;
    }
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
