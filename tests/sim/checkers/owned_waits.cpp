#include "tests/sim/checkers/owned_waits.hpp"

namespace thalweg::sim {

OwnedWaits::Actor* OwnedWaits::known(std::string_view who) {
  const auto found = actors_.find(who);
  return found == actors_.end() ? nullptr : &found->second;
}

void OwnedWaits::sent(const Message& message) {
  if (const auto* hello = message.as<actors::Hello>()) {
    for (const auto& aggregator : hello->aggregators) {
      actors_.try_emplace(aggregator.id.text());
      for (const auto& member : aggregator.roster.added) actors_.try_emplace(member.id.text());
    }
  } else if (const auto* stopped = message.as<actors::Stopped>()) {
    const auto gone = actors_.find(stopped->who);
    if (gone != actors_.end()) actors_.erase(gone);
  }
}

void OwnedWaits::decided(std::string_view who, const rules::Reason& reason) {
  auto* actor = known(who);
  if (actor == nullptr || recorded_) return;
  const auto text = reason.text();
  actor->waits = text.find("waits") == std::string::npos ? "" : text;
}

void OwnedWaits::waits(std::string_view who, std::string_view for_whom, const rules::Reason& until) {
  recorded_ = true;
  // An actor may wait from before the cluster is told who is in it.
  actors_[std::string(who)].waits = "for " + std::string(for_whom) + ": " + until.text();
}

void OwnedWaits::goes_on(std::string_view who) {
  if (auto* actor = known(who)) actor->waits.clear();
}

void OwnedWaits::computes(std::string_view who, bool busy) {
  if (auto* actor = known(who)) actor->busy = busy;
}

void OwnedWaits::pauses(Time now, bool for_ever) {
  for (const auto& [name, actor] : actors_) {
    if (actor.busy) continue;
    if (for_ever && !actor.waits.empty()) {
      find(name + " waits " + actor.waits + "; nothing is on its way that could end it");
    } else if (recorded_ && actor.waits.empty()) {
      find(name + " has nothing to do at " + std::to_string(now.count() / 1000) +
           " us, and has not said for whom it waits");
    }
  }
}

}  // namespace thalweg::sim
