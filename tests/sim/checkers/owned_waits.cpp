#include "tests/sim/checkers/owned_waits.hpp"

#include <cctype>

namespace thalweg::sim {

namespace {

/// "root", "g1" or "w3".
bool waits_for_others(std::string_view who) {
  return who == "root" || (who.size() > 1 && (who[0] == 'g' || who[0] == 'w') &&
                           std::isdigit(static_cast<unsigned char>(who[1])) != 0);
}

}  // namespace

void OwnedWaits::named(std::string_view who) {
  if (waits_for_others(who)) actors_.try_emplace(std::string(who));
}

void OwnedWaits::sent(const Message& message) {
  if (const auto* stopped = message.as<actors::Stopped>()) dies(stopped->who);
}

void OwnedWaits::dies(std::string_view who) {
  const auto gone = actors_.find(who);
  if (gone != actors_.end()) actors_.erase(gone);
}

void OwnedWaits::waits(std::string_view who, std::string_view for_whom, const rules::Reason& until) {
  const auto actor = actors_.find(who);
  if (actor != actors_.end()) actor->second.waits = "for " + std::string(for_whom) + ": " + until.text();
}

void OwnedWaits::goes_on(std::string_view who) {
  const auto actor = actors_.find(who);
  if (actor != actors_.end()) actor->second.waits.clear();
}

void OwnedWaits::computes(std::string_view who, bool busy) {
  const auto actor = actors_.find(who);
  if (actor != actors_.end()) actor->second.busy = busy;
}

void OwnedWaits::pauses(Time now, bool for_ever) {
  for (const auto& [name, actor] : actors_) {
    if (actor.busy) continue;
    if (for_ever && !actor.waits.empty()) {
      find(name + " waits " + actor.waits + "; nothing is on its way that could end it");
    } else if (actor.waits.empty()) {
      find(name + " has nothing to do at " + std::to_string(now.count() / 1000) +
           " us, and has not said for whom it waits");
    }
  }
}

}  // namespace thalweg::sim
