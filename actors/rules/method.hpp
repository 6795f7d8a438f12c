#pragma once

#include "actors/rules/adopt.hpp"
#include "actors/rules/local.hpp"
#include "actors/rules/merge.hpp"
#include "actors/rules/pace.hpp"
#include "actors/rules/pull.hpp"
#include "actors/rules/trigger.hpp"

#include <thalweg/config.hpp>
#include <thalweg/result.hpp>

#include <algorithm>
#include <string>
#include <vector>

/// A synchronization method is five choices; a named method is a preset of them.
namespace thalweg::rules {

/// What contributions carry.
enum class Sends {
  gradients,  ///< sums of gradients over samples
  moves,      ///< n times the way that a phase went: n·(w - x)
};

struct Method {
  std::string name;                   ///< as it was asked for, "inhad(2)"
  LocalRule local;                    ///< what a worker does before it contributes
  PaceRule pace;                      ///< when a worker may go on
  std::vector<TriggerRule> triggers;  ///< when an aggregator closes a round, by level; the last for all below
  PullRule pull;                      ///< `progress` only
  MergeRule merge;                    ///< what a round does to w, at the root
  AdoptRule adopt;                    ///< what a worker does with new parameters
  Sends sends = Sends::gradients;
  std::string inner = "sgd";  ///< local steps: sgd (plain), adamw (DiLoCo's), train (what [train] says)
  double inner_clip = 0;      ///< of the mean gradient of a local step; 0: none
  std::string outer = "sgd";  ///< moves only: the root's optimizer
  double outer_lr = 1;        ///< likewise
  double outer_momentum = 0;  ///< likewise
  bool half_warm_up = false;  ///< rounds of one step for half of the run, by whoever knows how long it is
  bool to_all = true;         ///< new parameters go to every member; else to those that were asked

  [[nodiscard]] const TriggerRule& trigger(std::size_t level) const {
    return triggers[std::min(level, triggers.size() - 1)];
  }
  /// Rounds are planned: who computes which samples of which round follows from the seed. Otherwise workers
  /// are given batches as they ask for them.
  [[nodiscard]] bool planned() const { return local.planned; }
  /// A worker steps on a copy of the parameters; otherwise on the parameters themselves.
  [[nodiscard]] bool replica() const {
    return local.steps > 1 || sends == Sends::moves || adopt.kind != AdoptRule::Kind::replace;
  }
  /// Every member of an aggregator contributes to each of its rounds: that of the same number.
  [[nodiscard]] bool numbered() const {
    return by_rounds() && std::none_of(triggers.begin(), triggers.end(), [](const TriggerRule& each) {
             return each.kind == TriggerRule::Kind::quorum;
           });
  }
  /// A worker says when it has nothing to compute on, since somebody would wait for it.
  [[nodiscard]] bool tells_rest() const {
    const auto waits = [](const TriggerRule& each) {
      return each.kind == TriggerRule::Kind::all || each.kind == TriggerRule::Kind::count;
    };
    return !by_rounds() &&
           (pace.kind == PaceRule::Kind::stale || triggers[0].kind == TriggerRule::Kind::all ||
            std::any_of(triggers.begin() + 1, triggers.end(), waits));
  }
  /// Every worker contributes to every round, with or without samples.
  [[nodiscard]] bool by_rounds() const {
    return pace.kind == PaceRule::Kind::lockstep || pace.kind == PaceRule::Kind::one_behind;
  }
};

/// The preset `config.sync.method`, with what overrides its parts.
/// Fails: `invalid`, naming the key, what does not fit, and what would.
Result<Method> find_method(const Config& config);

}  // namespace thalweg::rules
