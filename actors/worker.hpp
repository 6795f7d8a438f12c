#pragma once

#include "actors/replica.hpp"
#include "actors/role.hpp"
#include "actors/rules/method.hpp"
#include "gpu/buffer.hpp"
#include "gpu/stream.hpp"

#include <thalweg/model.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>

/// The worker: owns one device stream and turns batches into contributions. Before it the feeder (batches)
/// and its parent (parameters); after it the same parent, to which it contributes. The actor runs on the
/// actor scheduler's threads and never computes; the stream's thread does, and says so by a message.
///
///                 ┌──────────────── Batch and Parameters here, pace allows ───────────────┐
///                 │                                                                       ▼
///   start ──▶ waiting ◀─┬─ Contribution to the parent ◀── local rule ◀── StepDone ◀── computing
///                 │     └─ the phase goes on ◀───────────────┘                            │
///                 └── Stop ──▶ gone ◀───────────────── StepDone, when stopping ───────────┘
///
/// A phase is the steps between two contributions: one, or several on a replica of the parameters.
namespace thalweg::actors {

class WorkerState {
 public:
  struct Options {
    std::uint32_t number = 0;
    AggregatorHandle parent;
    std::string parent_name;  ///< "g0"
    FeederHandle feeder;
    OwnerHandle supervisor;
    std::unique_ptr<gpu::Stream> stream;
    std::unique_ptr<Model> model;                ///< used on the stream's thread only
    std::shared_ptr<gpu::BufferPool> gradients;  ///< `gradients_of(method)` of them
    rules::Method method;
    std::unique_ptr<Replica> replica;  ///< null where the method steps on no replica
  };
  /// One being computed, those of a phase that is under way, and those on their way up.
  static std::size_t gradients_of(const rules::Method& method) {
    return method.by_rounds() && method.replica() ? 4 : 2;
  }

  explicit WorkerState(RoleBase<WorkerHandle>* self) : self_(self) {}
  ~WorkerState();
  WorkerHandle::behavior_type start(Options options);

 private:
  /// What was done since the last contribution.
  struct Phase {
    Round round;
    Version base;
    std::uint64_t steps = 0, samples = 0, batch = 0;
    std::vector<IndexRange> spent;
    Score score;
    std::uint64_t compute_ns = 0, serial = 0;
    double norm = 0;
    bool again = false;
    std::shared_ptr<gpu::Buffer> sum;  ///< of its gradients
  };
  struct Work;

  void adopt(const Parameters& parameters);
  void hear_slowest(std::uint64_t iterations);
  [[nodiscard]] bool comes_early(const Parameters& parameters) const;
  void take(const Batch& batch);
  void want_batch(bool patient);
  void start_if_allowed();
  bool may_begin();
  bool take_buffers();
  void rest();
  void compute();
  void submit(std::shared_ptr<Work> work);
  void step_done(const StepDone& done);
  void end_phase();
  void contribute();
  void stop();
  [[nodiscard]] bool in_phase() const { return phase_.steps > 0; }
  [[nodiscard]] Replica::Mean mean_behind() const;
  /// Tells the name of the parent, for the record of a wait.
  auto parent() const {
    return [this] { return options_.parent_name; };
  }

  RoleBase<WorkerHandle>* self_;
  Options options_;

  std::optional<Parameters> parameters_;   ///< the newest
  std::optional<Parameters> early_;        ///< newer ones, for when the next phase has begun
  bool fresh_ = false;                     ///< the replica has not seen them
  std::map<Round, Replica::Mean> means_;   ///< eager only: of the newest rounds that are closed
  std::optional<Batch> next_;              ///< cut, not yet begun
  std::optional<Batch> current_;           ///< being computed
  std::shared_ptr<gpu::Buffer> gradient_;  ///< of `current_`
  Phase phase_;
  Round next_round_;           ///< that the next phase is for, where rounds are not planned
  bool phase_over_ = false;    ///< it is to be contributed
  bool ending_phase_ = false;  ///< the stream works out the phase's move
  std::uint64_t contributions_ = 0;
  std::uint64_t unanswered_ = 0;  ///< of them
  std::uint64_t clock_ = 0;       ///< iterations finished
  std::uint64_t pace_clock_ = 0;  ///< the same for the gap rule: never behind the slowest worker's
  std::uint64_t slowest_ = 0;     ///< of the slowest worker, as far as was told
  bool retrying_ = false;         ///< a Tick is under way, since no gradient buffer was free
  bool resting_ = false;          ///< the parent was told that there is nothing to compute on
  bool stopping_ = false;
};

}  // namespace thalweg::actors
