#pragma once

#include "actors/role.hpp"
#include "actors/rules/method.hpp"
#include "gpu/buffer.hpp"
#include "gpu/stream.hpp"

#include <thalweg/model.hpp>

#include <memory>
#include <optional>
#include <string>

/// The worker: owns one device stream and turns batches into gradients. Before it the feeder (batches) and
/// its parent (parameters); after it the same parent, to which it contributes. The actor runs on the actor
/// scheduler's threads and never computes; the stream's thread does, and says so by a message.
///
///                 ┌──────────────── Batch and Parameters here, pace allows ───────────────┐
///                 │                                                                       ▼
///   start ──▶ waiting ◀── Contribution to the parent ◀── local rule ◀── StepDone ◀── computing
///                 │                                                                       │
///                 └── Stop ──▶ gone ◀───────────────── StepDone, when stopping ───────────┘
namespace thalweg::actors {

class WorkerState {
 public:
  struct Options {
    std::uint32_t number = 0;
    AggregatorHandle parent;
    std::string parent_name;  ///< "g0"
    FeederHandle feeder;
    SupervisorHandle supervisor;
    std::unique_ptr<gpu::Stream> stream;
    std::unique_ptr<Model> model;                ///< used on the stream's thread only
    std::shared_ptr<gpu::BufferPool> gradients;  ///< two: one being computed, one on its way up
    rules::Method method;
  };

  explicit WorkerState(RoleBase<WorkerHandle>* self) : self_(self) {}
  ~WorkerState();
  WorkerHandle::behavior_type start(Options options);

 private:
  void adopt(const Parameters& parameters);
  void take(const Batch& batch);
  void start_if_allowed();
  void compute(const Batch& batch, std::shared_ptr<gpu::Buffer> gradient);
  void step_done(const StepDone& done);
  void contribute(const StepDone& done);
  void stop();
  /// Tells the name of the parent, for the record of a wait.
  auto parent() const {
    return [this] { return options_.parent_name; };
  }

  RoleBase<WorkerHandle>* self_;
  Options options_;
  std::unique_ptr<rules::LocalRule> local_;
  std::unique_ptr<rules::PaceRule> pace_;
  std::unique_ptr<rules::AdoptRule> adopt_;

  std::optional<Parameters> parameters_;   ///< the newest adopted
  std::optional<Batch> next_;              ///< cut, not yet begun
  std::optional<Batch> current_;           ///< being computed
  Version base_version_;                   ///< of the parameters that `current_` is computed at
  std::shared_ptr<gpu::Buffer> gradient_;  ///< of `current_`
  std::uint64_t contributions_ = 0;
  bool retrying_ = false;  ///< a Tick is under way, since no gradient buffer was free
  bool stopping_ = false;
};

}  // namespace thalweg::actors
