#include "tests/sim/checkers/refused_fairly.hpp"

#include "tests/sim/ranges.hpp"

#include <algorithm>
#include <cmath>

namespace thalweg::sim {

namespace {

std::string key_of(MemberId origin, const std::vector<IndexRange>& spent) {
  return origin.text() + ": " + text_of(spent);
}

/// The part of `ranges` that is in `whole`, too.
std::vector<IndexRange> common(const std::vector<IndexRange>& ranges, const std::vector<IndexRange>& whole) {
  return missing(ranges, missing(ranges, whole));
}

std::vector<IndexRange> merged(const std::vector<IndexRange>& ranges) {
  std::vector<IndexRange> all;
  for (const auto& range : ranges) add_range(all, range);
  return all;
}

bool no_good(const Contribution& contribution, double max_norm) {
  if (!std::isfinite(contribution.score.loss_sum)) return true;
  double squared = 0;
  for (const float number : contribution.payload->host()) {
    squared += static_cast<double>(number) * static_cast<double>(number);
  }
  if (!std::isfinite(squared)) return true;
  return max_norm > 0 && std::sqrt(squared) > max_norm * static_cast<double>(contribution.samples);
}

}  // namespace

void RefusedFairly::begins(const Job& job, const rules::LockstepSampling& /*sampling*/,
                           const actors::Snapshot* start) {
  job_ = job;
  workers_ = job.config.topology.workers;
  if (start == nullptr) return;
  before_ = start->quarantined;
  refused_before_ = start->refused;
}

void RefusedFairly::sent(const Message& message) {
  const auto* up = message.as<Contribution>();
  if (up != nullptr && up->origin.kind == MemberId::Kind::worker && up->payload &&
      no_good(*up, job_.config.guard.max_norm)) {
    bad_.insert(key_of(up->origin, up->spent));
  }
  if (const auto* closed = message.as<actors::RoundClosed>()) close(*closed);
  if (message.as<actors::Arrived>() != nullptr) ++workers_;
  const auto* departed = message.as<actors::Departed>();
  if (departed != nullptr && message.from == "scheduler") check_departure(*departed);
}

void RefusedFairly::close(const actors::RoundClosed& closed) {
  const auto spent = merged(closed.spent);
  for (auto& refused : refused_) {
    for (const auto& range : common(refused.spent, spent)) add_range(refused.fine, range);
  }
  for (const auto& refusal : closed.refused) {
    const auto who = refusal.origin.text() + " in round " + std::to_string(closed.round.value);
    if (bad_.erase(key_of(refusal.origin, refusal.spent)) == 0)
      find("the contribution of " + who + " is refused, and nothing is wrong with it");
    if (!disjoint(merged(refusal.spent), spent)) find("what is refused of " + who + " is in the commit");
    for (const auto& earlier : refused_) {
      if (earlier.origin == refusal.origin && workers_ > 1 &&
          !disjoint(earlier.spent, merged(refusal.spent))) {
        find(refusal.origin.text() + " gets again what was refused of it: " + text_of(refusal.spent));
      }
    }
    refused_.push_back({refusal.origin, merged(refusal.spent), {}});
  }
}

void RefusedFairly::check_departure(const actors::Departed& departed) {
  --workers_;
  if (departed.why.find("were refused") == std::string::npos) return;
  std::uint64_t strikes = 0;
  for (const auto& refused : refused_) {
    if (refused.origin == departed.member && missing(refused.spent, refused.fine).empty()) ++strikes;
  }
  if (strikes < job_.config.guard.strikes) {
    find(departed.member.text() + " loses its place after " + std::to_string(strikes) +
         " refusals that were fine elsewhere, guard.strikes is " + std::to_string(job_.config.guard.strikes));
  }
}

void RefusedFairly::ends(const Ending& ending) {
  if (!ending.outcome) return;
  const auto& summary = ending.outcome->summary;
  if (summary.refused != refused_.size() + refused_before_) {
    find("the summary has " + std::to_string(summary.refused) +
         " refused contributions, closed rounds have " + std::to_string(refused_.size() + refused_before_));
  }
  if (ending.outcome->snapshot) check_quarantine(*ending.outcome->snapshot);
}

void RefusedFairly::check_quarantine(const actors::Snapshot& snapshot) {
  // Positions that were refused once, and those that were refused more often.
  std::vector<IndexRange> once, twice;
  for (const auto& refused : refused_) {
    for (const auto& range : common(refused.spent, once)) add_range(twice, range);
    for (const auto& range : refused.spent) add_range(once, range);
  }
  const auto fresh = missing(snapshot.quarantined, before_);
  const auto hasty = missing(fresh, twice);
  if (!hasty.empty()) find(text_of(hasty) + " is quarantined, and was not refused twice");
  auto quarantined = snapshot.quarantined;
  const auto spared = missing(twice, quarantined);
  if (!spared.empty()) find(text_of(spared) + " was refused twice, and is not quarantined");
}

}  // namespace thalweg::sim
