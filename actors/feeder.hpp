#pragma once

#include "actors/batch_cutter.hpp"
#include "actors/role.hpp"
#include "models/dataset.hpp"
#include "runtime/pool/task_pool.hpp"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

/// The feeder: one per node. Before it the scheduler, which leases it rounds, or batches where rounds are not
/// planned; after it the node's workers, whose batches it has cut on the task pool while they still compute
/// on the ones before. It runs on the
/// actor scheduler's threads; the cutting itself on the pool's, which answers the worker directly.
///
///   worker asks ──▶ round leased? ──yes──▶ cut on the pool ──▶ Batch to the worker
///                        │no
///                        ▼
///                  asker waits ◀── Lease (a round or two ahead of the one that is open)
namespace thalweg::actors {

class FeederState {
 public:
  struct Options {
    std::shared_ptr<const models::Dataset> data;
    std::uint64_t seed = 0;  ///< of the epochs' permutations
    Round first;             ///< the first round of the run, or of its resumption
    bool planned = true;     ///< rounds are leased; else batches
    OwnerHandle supervisor;
    SchedulerHandle scheduler;
    TaskPool* pool = nullptr;  ///< null: cut in the handler, for tests
  };

  explicit FeederState(RoleBase<FeederHandle>* self) : self_(self) {}
  FeederHandle::behavior_type start(Options options);

 private:
  /// How far one worker is.
  struct Cursor {
    Round next;                           ///< the planned round its next batch belongs to
    std::uint64_t offset = 0;             ///< samples it has got of its share of that round
    std::deque<rules::GivenBatch> given;  ///< where rounds are not planned
    std::optional<WantBatch> waiting;     ///< set while it waits for a lease
  };

  void want(const WantBatch& request);
  void take_lease(const Lease& lease);
  bool serve(const WantBatch& request);
  Cursor& cursor_of(std::uint32_t worker);
  std::optional<Batch> next_of_round(std::uint32_t worker);
  std::optional<Batch> next_given(const WantBatch& request);
  void deliver(const WorkerHandle& to, Batch batch);

  RoleBase<FeederHandle>* self_;
  Options options_;
  std::shared_ptr<BatchCutter> cutter_;
  std::deque<rules::RoundShare> leased_;     ///< consecutive rounds, the oldest first
  std::map<std::uint32_t, Cursor> cursors_;  ///< by worker number, of those that have asked or are given
  Round next_lease_;                         ///< first round after `leased_`
  std::vector<bool> dry_;                    ///< by worker number: the scheduler has nothing for it, for now
};

}  // namespace thalweg::actors
