#pragma once

#include "actors/role.hpp"
#include "actors/rules/sampling.hpp"

/// The scheduler: beside the root, it knows who belongs to the tree and which samples are whose. Before it
/// the supervisor (who stands) and the root (what was committed); after it the aggregators (rosters) and the
/// feeders (leases). Runs on the actor scheduler's threads.
namespace thalweg::actors {

class SchedulerState {
 public:
  struct Options {
    rules::LockstepSampling sampling;
    Round first;  ///< the first round of the run, or of its resumption
    SupervisorHandle supervisor;
  };

  explicit SchedulerState(RoleBase<SchedulerHandle>* self) : self_(self) {}
  SchedulerHandle::behavior_type start(Options options);

 private:
  void admit(const Hello& hello);
  void lease(const FeederHandle& feeder);
  void retire(const Committed& committed);

  RoleBase<SchedulerHandle>* self_;
  std::optional<Options> options_;
  Round next_;       ///< first round not yet leased
  Round committed_;  ///< first round not yet committed
};

}  // namespace thalweg::actors
