#include "tests/sim/checkers/paces_kept.hpp"

#include "runtime/check.hpp"

#include <algorithm>
#include <utility>

namespace thalweg::sim {

using Pace = rules::PaceRule::Kind;
using Trigger = rules::TriggerRule::Kind;

void PacesKept::begins(const Job& job, const rules::LockstepSampling& /*sampling*/,
                       const actors::Snapshot* /*start*/) {
  auto method = rules::find_method(job.config);
  THALWEG_CHECK(method.ok(), method ? "" : method.error().text);
  method_ = std::move(*method);
  workers_most_ = job.config.topology.workers;
  for (std::uint32_t worker = 0; worker < workers_most_; ++worker) workers_[worker_id(worker).text()];
}

void PacesKept::sent(const Message& message) {
  if (const auto* up = message.as<Contribution>()) {
    if (message.from.starts_with('w')) contributes(std::string(message.from), *up);
    if (message.to == "root") check_answer(message, *up);
  }
  if (const auto* progress = message.as<actors::Progress>()) rested_ = rested_ || progress->rests;
  if (const auto* arrived = message.as<actors::Arrived>()) {
    workers_[arrived->member.text()].clock.reset();
    ++workers_most_;
  }
  if (const auto* departed = message.as<actors::Departed>()) workers_.erase(departed->member.text());
  if (const auto* pull = message.as<actors::Pull>(); pull != nullptr && message.from == "root") {
    if (pulling_ && *pulling_ != pull->round) {
      find("root pulls round " + std::to_string(pull->round.value) + " while round " +
           std::to_string(pulling_->value) + " is being pulled");
    }
    pulling_ = pull->round;
  }
  if (message.as<actors::RoundClosed>() != nullptr) pulling_.reset();
  if (const auto* committed = message.as<actors::Committed>()) check_ages(*committed);
}

void PacesKept::delivered(const Message& message) {
  const auto* down = message.as<Parameters>();
  if (down == nullptr) return;
  const auto found = workers_.find(message.to);
  if (found == workers_.end()) return;
  found->second.open = std::max(found->second.open.value_or(Round{}), down->record.round);
  found->second.unanswered = 0;
}

void PacesKept::dies(std::string_view who) {
  if (const auto found = workers_.find(who); found != workers_.end()) workers_.erase(found);
}

void PacesKept::contributes(const std::string& who, const Contribution& contribution) {
  const auto found = workers_.find(who);
  if (found == workers_.end()) return;
  auto& worker = found->second;
  const auto round = contribution.round;
  const auto what = who + " contributes to round " + std::to_string(round.value);
  if (!worker.open) return find(what + " before it has parameters");
  if (worker.contributed && round <= *worker.contributed) {
    find(what + " after round " + std::to_string(worker.contributed->value));
  }
  const std::uint64_t ahead = method_.pace.kind == Pace::one_behind ? 1 : 0;
  if (method_.by_rounds() && round.value > worker.open->value + ahead) {
    find(what + ", and knows that round " + std::to_string(worker.open->value) + " is open");
  }
  if (method_.pace.replies() && worker.unanswered > 0) {
    find(what + " while " + std::to_string(worker.unanswered) + " of its contributions are not answered");
  }
  worker.contributed = round;
  ++worker.unanswered;
  if (!contribution.work.empty()) worker.clock = contribution.work.front().clock;
  if (method_.pace.kind == Pace::stale) check_gap(who);
}

void PacesKept::check_gap(const std::string& who) {
  if (rested_) return;
  const auto clock = workers_.find(who)->second.clock;
  for (const auto& [name, other] : workers_) {
    if (!other.clock || !clock || *clock <= *other.clock + method_.pace.gap + 1) continue;
    return find(who + " has finished " + std::to_string(*clock) + " iterations, " + name + " " +
                std::to_string(*other.clock) + ", and " + std::to_string(method_.pace.gap + 1) +
                " more are allowed");
  }
}

/// Ages are counted at the version that the commit was made from.
void PacesKept::check_ages(const actors::Committed& committed) {
  std::optional<std::uint64_t> most;
  const bool quorum = std::any_of(method_.triggers.begin(), method_.triggers.end(),
                                  [](const auto& each) { return each.kind == Trigger::quorum; });
  if (method_.pace.kind == Pace::lockstep && !quorum) most = 0;
  if (method_.pace.kind == Pace::one_behind) most = 1;
  if (method_.pace.kind == Pace::stale && method_.trigger(0).kind == Trigger::any && !rested_) {
    most = (workers_most_ - 1) * (2 * method_.pace.gap + 1);
  }
  if (!most) return;
  const auto version = committed.record.version.value;
  for (const auto& age : committed.ages) {
    if (age.base.value + *most + 1 >= version) continue;
    find("version " + std::to_string(version) + " holds gradients that were taken at version " +
         std::to_string(age.base.value) + ", " + std::to_string(*most) + " commits before it are allowed");
  }
}

void PacesKept::check_answer(const Message& message, const Contribution& contribution) {
  if (method_.trigger(0).kind != Trigger::progress) return;
  if (!pulling_ || contribution.round != *pulling_) {
    find(std::string(message.from) + " answers a pull of round " + std::to_string(contribution.round.value) +
         " that is not under way");
  }
  if (contribution.iterations == 0) find(std::string(message.from) + " was pulled and holds nothing");
}

}  // namespace thalweg::sim
