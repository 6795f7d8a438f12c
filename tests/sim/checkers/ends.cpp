#include "tests/sim/checkers/ends.hpp"

namespace thalweg::sim {

void Ends::begins(const Job& job, const rules::LockstepSampling& /*sampling*/) {
  may_stop_ = job.stop_at.has_value();
}

void Ends::decided(std::string_view who, const rules::Reason& reason) {
  const auto text = reason.text();
  if (text.find("waits") == std::string::npos) {
    const auto found = waits_.find(who);
    if (found != waits_.end()) waits_.erase(found);
  } else {
    waits_.insert_or_assign(std::string(who), text);
  }
}

void Ends::waits(std::string_view who, std::string_view for_whom, const rules::Reason& until) {
  waits_.insert_or_assign(std::string(who), "waits for " + std::string(for_whom) + ": " + until.text());
}

void Ends::ends(const Ending& ending) {
  if (!ending.outcome) {
    std::string text = ending.cut.empty() ? "the run stands still" : ending.cut;
    text += " (" + std::to_string(ending.at.count() / 1000) + " us)";
    for (const auto& [who, wait] : waits_) text += "; " + who + " " + wait;
    return find(text);
  }
  if (ending.left > 0) find(std::to_string(ending.left) + " actors still run when the run has ended");
  const auto& summary = ending.outcome->summary;
  if (summary.end != "done" && !(summary.end == "stopped" && may_stop_)) {
    find("the run ends as '" + summary.end + "': " + summary.failure);
  }
}

}  // namespace thalweg::sim
