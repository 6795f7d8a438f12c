#pragma once

#include "actors/rules/decision.hpp"
#include "runtime/values/ids.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

/// InHAD's trigger at the root (`progress`): leaders fold what their workers compute, and say how many
/// iterations that is; the root counts, and decides when to pull from whom.
/// (Reconstruction of Xiao et al., "Iteration number-based hierarchical gradient aggregation", 2022.)
namespace thalweg::rules {

/// What one leader holds.
struct GroupProgress {
  MemberId id;
  std::uint64_t iterations = 0;  ///< finished under this incarnation of the leader
  std::uint64_t pulled = 0;      ///< of which were in its answers

  /// An answer may hold more than was known of when it was asked for.
  [[nodiscard]] std::uint64_t unpulled() const { return iterations > pulled ? iterations - pulled : 0; }
};

struct PullView {
  Round round;
  bool under_way = false;     ///< a pull is not answered yet
  bool drained = false;       ///< nothing more comes than what is unpulled
  std::uint64_t workers = 0;  ///< λ
  const std::vector<GroupProgress>& groups;
  /// With so many unpulled everybody waits for a commit, under a gap rule.
  std::uint64_t room = std::numeric_limits<std::uint64_t>::max();
};

enum class PullAction { pull, wait };

struct PullDecision {
  PullAction action = PullAction::wait;
  std::vector<MemberId> from;  ///< never empty when it pulls
  Reason reason;
};

struct PullRule {
  /// Pulls when c = max(1, ⌊λ/n⌋) iterations are unpulled over all groups...
  std::uint64_t soft = 1;
  /// ... or, when not 0, c itself.
  std::uint64_t iterations = 0;
  /// Not 0: pulls when so many groups have `each` unpulled instead.
  std::uint64_t groups = 0;
  std::uint64_t each = 1;
  /// Pulls from the groups with most unpulled that make up c, not from all that have something.
  bool fastest = false;

  [[nodiscard]] std::uint64_t needed(std::uint64_t workers) const {
    return iterations != 0 ? iterations : std::max<std::uint64_t>(1, workers / soft);
  }

  [[nodiscard]] PullDecision decide(const PullView& view) const;
};

}  // namespace thalweg::rules
