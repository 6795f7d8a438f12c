#include "actors/scheduler.hpp"

#include <algorithm>
#include <utility>

namespace thalweg::actors {

namespace {

/// Rounds that are leased and not closed. A worker computes one while its next batch is cut, so that two
/// would do; more only delay what comes back from a lost worker.
constexpr std::uint64_t rounds_ahead = 3;
/// Batches that a worker has been given and has not asked for yet. One is cut while one computes; more would
/// leave a slow worker with a long tail.
constexpr std::uint64_t batches_ahead = 2;

}  // namespace

SchedulerHandle::behavior_type SchedulerState::start(Options options) {
  options_ = std::move(options);
  allotment_.emplace(std::move(options_->allotment));
  next_ = open_ = options_->first;
  self_->name_is("scheduler");
  return {
      [this](const Stamp&, const Hello& hello) { admit(hello); },
      [this](const Stamp&, const Joined& joined) { join(joined); },
      [this](const Stamp&, const Left& left) {
        if (left.member.kind == MemberId::Kind::worker) return depart(left.member, left.why);
        if (auto* leader = find(left.member); leader != nullptr && leader->attached) remove(left.member);
      },
      [this](const Stamp&, const Served& served) {
        supplies_[served.worker].served = served.serial;
        lease();
      },
      [this](const Stamp&, const Fenced& fenced) { fence(fenced); },
      [this](const Stamp&, const RoundClosed& closed) { retire(closed); },
      [this](const Stamp&, const Stop&) { self_->leave(options_->supervisor); },
  };
}

void SchedulerState::admit(const Hello& hello) {
  for (const auto& feeder : hello.feeders) {
    for (const auto worker : feeder.workers) supplies_[worker].feeder = feeders_.size();
    feeders_.push_back(feeder.handle);
  }
  for (const auto& each : hello.aggregators) tree_.push_back({each.id, each.handle, each.roster.added});
  for (const auto& parent : tree_) {
    for (const auto& member : parent.members) {
      if (auto* leader = find(member.id)) leader->parent = parent.id;
    }
  }
  // Leaders first: a member must know its own members before its parent's parameters reach it.
  for (auto at = tree_.rbegin(); at != tree_.rend(); ++at) {
    Roster roster{at->members, {}, options_->first, {}};
    if (at->id == root_id()) {
      for (const auto& [worker, batch] : allotment_->batches()) roster.workers.push_back(worker);
    }
    self_->tell(at->handle, std::move(roster));
  }
  lease();
}

SchedulerState::Aggregator* SchedulerState::find(MemberId aggregator) {
  const auto found =
      std::find_if(tree_.begin(), tree_.end(), [&](const Aggregator& each) { return each.id == aggregator; });
  return found == tree_.end() ? nullptr : &*found;
}

/// The newcomer takes part in planned rounds that are not cut yet, and in those that are with no samples.
void SchedulerState::join(const Joined& joined) {
  const auto id = joined.member.id;
  auto* parent = find(joined.parent);
  THALWEG_CHECK(parent != nullptr, "a newcomer is put below an aggregator of the tree");
  if (spent_) return self_->tell(joined.member.handle, Stop{Stop::When::now});
  if (joined.leader) {
    parent->members.push_back(joined.member);
    self_->tell(parent->handle, Roster{{joined.member}, {}, options_->first, {}});
    tree_.push_back({id, joined.leader, {}, joined.parent});
    return;
  }
  allotment_->add(id.number, options_->batch);
  self_->note({"w{} joins: {} workers", {id.number, allotment_->workers()}});
  const auto feeder = std::find(feeders_.begin(), feeders_.end(), joined.feeder);
  supplies_[id.number].feeder = static_cast<std::size_t>(feeder - feeders_.begin());
  if (feeder == feeders_.end()) {
    feeders_.push_back(joined.feeder);
    self_->tell(joined.feeder, Lease{{leased_.begin(), leased_.end()}, open_});
  }
  // The root first: it counts all workers. A leader before its members, so that they find it open.
  const bool below_root = parent->id == root_id();
  if (!below_root) {
    self_->tell(tree_.front().handle, Roster{{}, {}, options_->first, {id.number}});
    attach(*parent);
  }
  parent->members.push_back(joined.member);
  self_->tell(parent->handle, Roster{{joined.member},
                                     {},
                                     options_->first,
                                     below_root ? std::vector{id.number} : std::vector<std::uint32_t>{}});
  self_->tell(options_->reporter, Arrived{id, allotment_->workers()});
  pause_or_go_on();
  lease();
}

void SchedulerState::attach(Aggregator& leader) {
  if (leader.attached) return;
  leader.attached = true;
  auto* parent = find(leader.parent);
  if (parent->id != root_id()) attach(*parent);
  parent->members.push_back({leader.id, leader.handle});
  self_->tell(parent->handle, Roster{{{leader.id, leader.handle}}, {}, options_->first, {}});
}

/// With too few workers nothing more is given out; what is out already is finished and counts.
void SchedulerState::pause_or_go_on() {
  const auto workers = allotment_->workers();
  const bool few = workers < options_->min_workers;
  if (few == paused_ || !options_->others_may_come || spent_) return;
  paused_ = few;
  const auto* says = few ? "pauses: {} of {} workers" : "goes on: {} workers, and {} are enough";
  self_->note({says, {workers, options_->min_workers}});
  self_->tell(options_->reporter, Paused{workers, options_->min_workers});
}

void SchedulerState::lease() {
  if (paused_ && !allotment_->done()) return;
  if (options_->balance && options_->balance->due()) {
    allotment_->cut(options_->balance->cut(allotment_->batches()));
    self_->note({"cuts batches by speed, {} workers", {allotment_->workers()}});
  }
  const bool all_given = options_->method.planned() ? lease_rounds() : lease_batches();
  drain(all_given);
  if (allotment_->done() && !std::exchange(spent_, true)) {
    self_->note({"has nothing left to lease after round {}: every sample is settled", {next_.value}});
    self_->tell(tree_.front().handle, DataSpent{});
  }
}

bool SchedulerState::lease_rounds() {
  Lease lease{{}, open_};
  for (; next_.value < open_.value + rounds_ahead && allotment_->available(); next_ = next_.next()) {
    lease.rounds.push_back(allotment_->next(next_, options_->method.local.most(next_)));
    leased_.push_back(lease.rounds.back());
  }
  if (lease.rounds.empty()) return !allotment_->available();
  self_->note({"leases {} rounds up to round {}", {lease.rounds.size(), next_.value}});
  for (const auto& feeder : feeders_) self_->tell(feeder, lease);
  return !allotment_->available();
}

/// In turns: workers at one pace take the samples in the order in which planned rounds would.
/// Returns whether nothing more is given out, for now, or not to everybody: what is left was refused of
/// whoever asks, and the others have enough. Whoever waits for all workers would wait for this one.
bool SchedulerState::lease_batches() {
  std::vector<Lease> leases(feeders_.size());
  std::vector<bool> dry;
  std::size_t count = 0;
  bool starves = false;
  const auto& batches = allotment_->batches();
  if (!batches.empty()) dry.resize(batches.rbegin()->first + 1);
  for (bool gave = true; std::exchange(gave, false);) {
    for (const auto& [worker, batch] : batches) {
      auto& supply = supplies_[worker];
      if (supply.given >= supply.served + batches_ahead) continue;
      const auto given = allotment_->give(worker);
      dry[worker] = !given;
      starves = starves || (!given && supply.given == supply.served);
      if (!given) continue;
      supply.given = given->serial;
      leases[supply.feeder].batches.push_back(*given);
      ++count;
      gave = true;
    }
  }
  const bool all_given = starves || !allotment_->available();
  const bool changed = dry != dry_;
  if (count == 0 && !changed) return all_given;
  dry_ = dry;
  self_->note({"leases {} batches", {count}});
  for (std::size_t i = 0; i < feeders_.size(); ++i) {
    if (leases[i].batches.empty() && !changed) continue;
    leases[i].dry = dry;
    self_->tell(feeders_[i], std::move(leases[i]));
  }
  return all_given;
}

/// Tells the root when nothing is left to give out, and when something is again.
void SchedulerState::drain(bool drained) {
  const auto batches = allotment_->given();
  if (options_->method.planned() || (drained == drained_ && (!drained || batches == told_))) return;
  drained_ = drained;
  told_ = batches;
  self_->tell(tree_.front().handle, Drained{drained, batches});
}

void SchedulerState::retire(const RoundClosed& closed) {
  if (options_->balance && !closed.spent.empty()) options_->balance->observe(closed.work);
  if (options_->method.planned()) {
    THALWEG_CHECK(closed.round == open_, "rounds are closed one after the other");
    open_ = open_.next();
    if (!leased_.empty()) leased_.pop_front();
    settled(closed.round, allotment_->settle(closed.round, closed.spent, closed.refused));
  } else {
    settled(closed.round, allotment_->settle(closed.spent, closed.refused));
  }
  lease();
}

void SchedulerState::settled(Round round, const rules::Allotment::Settled& settled) {
  if (settled.returned + settled.quarantined > 0) {
    self_->note({"round {}: {} samples committed, {} go out again, {} are quarantined",
                 {round.value, settled.committed, settled.returned, settled.quarantined}});
  }
  for (const auto worker : settled.wronged) {
    if (++strikes_[worker] != options_->strikes) continue;
    depart(worker_id(worker), std::to_string(options_->strikes) +
                                  " of its gradients refused, and fine when others computed them");
  }
}

void SchedulerState::depart(MemberId worker, const std::string& why) {
  if (!departed_.insert(worker).second) return;
  allotment_->remove(worker.number);
  remove(worker);
  const auto left = allotment_->workers();
  self_->note({"goes on without w{}: {} workers are left", {worker.number, left}});
  self_->tell(options_->reporter, Departed{worker, why, left});
  pause_or_go_on();
  if (left >= options_->min_workers || options_->others_may_come) return;
  self_->tell(options_->supervisor,
              Failed{worker.text(),
                     why + ": " + std::to_string(left) + " workers are left, and sync.min_workers is " +
                         std::to_string(options_->min_workers),
                     false,
                     {}});
}

/// Nobody but a dead leader knew how far its workers' batches had come; when the root has settled what it had
/// of that leader, what is still out is lost.
void SchedulerState::fence(const Fenced& fenced) {
  const auto take_back = [this](std::uint32_t worker, std::uint64_t serial) {
    const auto back = allotment_->fence(worker, serial);
    self_->note({"takes {} samples back from w{}", {back, worker}});
  };
  if (fenced.member.kind == MemberId::Kind::worker) {
    unfenced_.erase(fenced.member.number);
    take_back(fenced.member.number, fenced.serial);
  } else {
    std::erase_if(unfenced_, [&](const auto& lost) {
      if (lost.second != fenced.member) return false;
      take_back(lost.first, 0);
      return true;
    });
  }
  lease();
}

void SchedulerState::remove(MemberId member) {
  for (auto& parent : tree_) {
    const auto found = std::find_if(parent.members.begin(), parent.members.end(),
                                    [&](const Roster::Member& each) { return each.id == member; });
    if (found == parent.members.end()) continue;
    if (member.kind == MemberId::Kind::worker) {
      unfenced_[member.number] = parent.id;
      self_->tell(found->handle, Stop{Stop::When::now});
    }
    parent.members.erase(found);
    self_->tell(parent.handle, Roster{{}, {member}, {}, {}});
    if (member.kind == MemberId::Kind::worker && parent.id != root_id()) {
      self_->tell(tree_.front().handle, Roster{{}, {member}, {}, {}});  // it counts all workers
    }
    // Where rounds are not planned, a leader may still hold what others are to get: it stays.
    if (options_->method.planned() && parent.members.empty() && parent.id != root_id()) {
      parent.attached = false;
      remove(parent.id);
    }
    return;
  }
}

}  // namespace thalweg::actors
