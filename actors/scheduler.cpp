#include "actors/scheduler.hpp"

#include <algorithm>
#include <utility>

namespace thalweg::actors {

namespace {

/// Rounds that are leased and not closed. A worker computes one while its next batch is cut, so that two
/// would do; more only delay what comes back from a lost worker.
constexpr std::uint64_t rounds_ahead = 3;

}  // namespace

SchedulerHandle::behavior_type SchedulerState::start(Options options) {
  options_ = std::move(options);
  allotment_.emplace(std::move(options_->allotment));
  next_ = open_ = options_->first;
  self_->name_is("scheduler");
  return {
      [this](const Stamp&, const Hello& hello) { admit(hello); },
      [this](const Stamp&, const Left& left) { depart(left.member, left.why); },
      [this](const Stamp&, const RoundClosed& closed) { retire(closed); },
      [this](const Stamp&, const Stop&) { self_->leave(options_->supervisor); },
  };
}

void SchedulerState::admit(const Hello& hello) {
  feeder_ = hello.feeder;
  for (const auto& each : hello.aggregators) tree_.push_back({each.id, each.handle, each.roster.added});
  // Leaders first: a member must know its own members before its parent's parameters reach it.
  for (auto at = tree_.rbegin(); at != tree_.rend(); ++at) {
    self_->tell(at->handle, Roster{at->members, {}, options_->first});
  }
  lease();
}

void SchedulerState::lease() {
  Lease lease{{}, open_};
  for (; next_.value < open_.value + rounds_ahead && allotment_->available(); next_ = next_.next()) {
    lease.rounds.push_back(allotment_->next(next_));
  }
  if (!lease.rounds.empty()) {
    self_->note({"leases {} rounds up to round {}", {lease.rounds.size(), next_.value}});
    self_->tell(feeder_, std::move(lease));
  } else if (allotment_->done() && !std::exchange(spent_, true)) {
    self_->note({"has nothing left to lease after round {}: every sample is settled", {next_.value}});
    self_->tell(tree_.front().handle, DataSpent{});
  }
}

void SchedulerState::retire(const RoundClosed& closed) {
  THALWEG_CHECK(closed.round == open_, "rounds are closed one after the other");
  const auto settled = allotment_->settle(closed.round, closed.spent, closed.refused);
  open_ = open_.next();
  if (settled.returned + settled.quarantined > 0) {
    self_->note({"round {}: {} samples committed, {} go out again, {} are quarantined",
                 {closed.round.value, settled.committed, settled.returned, settled.quarantined}});
  }
  for (const auto worker : settled.wronged) {
    if (++strikes_[worker] != options_->strikes) continue;
    depart(worker_id(worker), std::to_string(options_->strikes) +
                                  " of its gradients refused, and fine when others computed them");
  }
  lease();
}

void SchedulerState::depart(MemberId worker, const std::string& why) {
  if (!departed_.insert(worker).second) return;
  allotment_->remove(worker.number);
  remove(worker);
  const auto left = allotment_->workers();
  self_->note({"goes on without w{}: {} workers are left", {worker.number, left}});
  self_->tell(options_->reporter, Departed{worker, why, left});
  if (left >= options_->min_workers) return;
  self_->tell(options_->supervisor,
              Failed{worker.text(),
                     why + ": " + std::to_string(left) + " workers are left, and sync.min_workers is " +
                         std::to_string(options_->min_workers),
                     false,
                     {}});
}

void SchedulerState::remove(MemberId member) {
  for (auto& parent : tree_) {
    const auto found = std::find_if(parent.members.begin(), parent.members.end(),
                                    [&](const Roster::Member& each) { return each.id == member; });
    if (found == parent.members.end()) continue;
    if (member.kind == MemberId::Kind::worker) self_->tell(found->handle, Stop{Stop::When::now});
    parent.members.erase(found);
    self_->tell(parent.handle, Roster{{}, {member}, {}});
    if (parent.members.empty() && parent.id != root_id()) remove(parent.id);
    return;
  }
}

}  // namespace thalweg::actors
