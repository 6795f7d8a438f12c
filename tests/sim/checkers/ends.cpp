#include "tests/sim/checkers/ends.hpp"

#include "actors/rules/method.hpp"

namespace thalweg::sim {

void Ends::begins(const Job& job, const rules::LockstepSampling& /*sampling*/,
                  const actors::Snapshot* /*start*/) {
  job_ = job;
  const auto method = rules::find_method(job.config);
  by_member_ = !method || method->trigger(0).by_member();
}

void Ends::sent(const Message& message) {
  if (message.as<actors::Departed>() != nullptr) ++departed_;
  if (message.as<actors::Arrived>() != nullptr) ++arrived_;
  if (const auto* closed = message.as<actors::RoundClosed>()) {
    if (!closed->spent.empty()) {
      refused_in_a_row_ = 0;
    } else if (!closed->refused.empty()) {
      ++refused_in_a_row_;
    }
  }
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
  if (ending.lost) return;
  if (!ending.outcome) {
    std::string text = ending.cut.empty() ? "the run stands still" : ending.cut;
    text += " (" + std::to_string(ending.at.count() / 1000) + " us)";
    for (const auto& [who, wait] : waits_) text += "; " + who + " " + wait;
    return find(text);
  }
  if (ending.left > 0) find(std::to_string(ending.left) + " actors still run when the run has ended");
  check_end(ending.outcome->summary);
}

/// A run fails when too few workers are left, and diverges when all that they send is refused for too long.
void Ends::check_end(const Summary& summary) {
  const auto workers_left = job_.config.topology.workers + arrived_ - departed_;
  const bool too_few = workers_left < job_.config.sync.min_workers || job_.leader_killed_at.has_value();
  const bool all_refused = refused_in_a_row_ >= job_.config.guard.strikes * (by_member_ ? 1 : workers_left);
  const bool right = summary.end == "done"       ? summary.ended_by != "stop"
                     : summary.end == "stopped"  ? job_.stop_at && summary.ended_by == "stop"
                     : summary.end == "failed"   ? too_few
                     : summary.end == "diverged" ? all_refused
                                                 : false;
  if (!right) {
    find("the run ends as '" + summary.end + "' by '" + summary.ended_by + "', with " +
         std::to_string(workers_left) + " workers left: " + summary.failure);
  }
}

}  // namespace thalweg::sim
