#include "actors/scheduler.hpp"

#include <utility>

namespace thalweg::actors {

namespace {

/// Rounds in one lease: enough that leases are rare, few enough that little is out when somebody dies.
constexpr std::uint64_t lease_rounds = 32;

}  // namespace

SchedulerHandle::behavior_type SchedulerState::start(Options options) {
  options_ = std::move(options);
  next_ = committed_ = options_->first;
  self_->name_is("scheduler");
  return {
      [this](const Stamp&, const Hello& hello) { admit(hello); },
      [this](const Stamp&, const LowWater& low) {
        THALWEG_CHECK(low.next == next_,
                      "one feeder cuts every round, so it knows as many leases as were made");
        lease(low.feeder);
      },
      [this](const Stamp&, const Committed& committed) { retire(committed); },
      [this](const Stamp&, const Stop&) {
        self_->tell(options_->supervisor, Stopped{"scheduler", self_->messages_handled(), 0, false, 0, 0});
        self_->quit();
      },
  };
}

void SchedulerState::admit(const Hello& hello) {
  // Leaders first: a member must know its own members before its parent's parameters reach it.
  for (auto at = hello.aggregators.rbegin(); at != hello.aggregators.rend(); ++at) {
    auto roster = at->roster;
    roster.first = options_->first;
    self_->tell(at->handle, std::move(roster));
  }
  lease(hello.feeder);
}

void SchedulerState::lease(const FeederHandle& feeder) {
  Lease lease;
  for (; lease.rounds.size() < lease_rounds && next_.value < options_->sampling.rounds();
       next_ = next_.next()) {
    lease.rounds.push_back(options_->sampling.share(next_));
  }
  lease.last = next_.value == options_->sampling.rounds();
  self_->note({"leases {} rounds up to round {}", {lease.rounds.size(), next_.value}});
  self_->tell(feeder, std::move(lease));
}

void SchedulerState::retire(const Committed& committed) {
  // In lockstep a commit spends exactly the round that was leased for it.
  THALWEG_CHECK(committed.record.version.value == committed_.value + 1, "commits follow each other");
  const auto leased = options_->sampling.share(committed_);
  std::uint64_t samples = 0;
  for (const auto& range : leased.ranges) samples += range.count;
  THALWEG_CHECK(total(committed.record.spent) == samples, "a commit spends what was leased for its round");
  committed_ = committed_.next();
}

}  // namespace thalweg::actors
