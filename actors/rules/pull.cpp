#include "actors/rules/pull.hpp"

#include <algorithm>

namespace thalweg::rules {

PullDecision PullRule::decide(const PullView& view) const {
  const auto wanted = needed(view.workers);
  std::uint64_t unpulled = 0;
  std::uint64_t enough = 0;
  std::vector<const GroupProgress*> holders;
  for (const auto& group : view.groups) {
    if (group.unpulled() == 0) continue;
    unpulled += group.unpulled();
    if (group.unpulled() >= each) ++enough;
    holders.push_back(&group);
  }
  if (view.under_way) {
    return {PullAction::wait,
            {},
            {"does not pull: round {} is being pulled, {} iterations are unpulled",
             {view.round.value, unpulled}}};
  }
  const bool due =
      unpulled >= view.room ||
      (groups != 0 ? enough >= std::min<std::uint64_t>(groups, view.groups.size()) : unpulled >= wanted);
  if (unpulled == 0 || (!due && !view.drained)) {
    return {PullAction::wait,
            {},
            {"does not pull: {} iterations of {} are unpulled, in {} groups",
             {unpulled, wanted, holders.size()}}};
  }
  PullDecision decision{PullAction::pull, {}, {}};
  std::uint64_t pulled = 0;
  if (fastest) {
    std::stable_sort(holders.begin(), holders.end(),
                     [](const auto* a, const auto* b) { return a->unpulled() > b->unpulled(); });
  }
  for (const auto* group : holders) {
    if (fastest && !view.drained && pulled >= wanted) break;
    pulled += group->unpulled();
    decision.from.push_back(group->id);
  }
  decision.reason = {"pulls round {} from {} groups: {} iterations are unpulled, {} are enough",
                     {view.round.value, decision.from.size(), unpulled, view.drained ? 1 : wanted}};
  return decision;
}

}  // namespace thalweg::rules
