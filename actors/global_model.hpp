#pragma once

#include "actors/snapshot.hpp"
#include "gpu/buffer.hpp"
#include "models/delay_compensation.hpp"
#include "models/optimizer.hpp"
#include "models/schedule.hpp"
#include "runtime/pool/task_pool.hpp"
#include "runtime/values/contribution.hpp"
#include "runtime/values/parameters.hpp"

#include <thalweg/result.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

/// What the root owns beside its part in the tree: the committed parameters, the optimizer's state, the
/// learning rate's schedule and the data ledger. Used by the root's actor and, while a large step is under
/// way, by one task of the pool.
namespace thalweg::actors {

class GlobalModel {
 public:
  struct Options {
    std::shared_ptr<gpu::BufferPool> parameters;  ///< published w, next w, and versions others still hold
    std::unique_ptr<models::Optimizer> optimizer;
    models::Schedule schedule;
    double clip_norm = 0;  ///< of the mean gradient; 0: none
    /// Moves are sent: `optimizer` steps along their mean, with this learning rate. 0: gradients are.
    double outer_lr = 0;
    std::unique_ptr<models::DelayCompensation> compensation = nullptr;  ///< null: none
    std::shared_ptr<gpu::BufferPool> scratch = nullptr;  ///< one buffer, where delay is compensated for
    bool tells_ledger = false;  ///< parameters carry the ledger, for whoever may have to go on from them
  };

  /// Goes on from `start`: version 0 with initial weights, or where another run stopped.
  /// Fails: `mismatch` when the optimizer refuses the state in `start`.
  static Result<std::unique_ptr<GlobalModel>> make(Options options, const Snapshot& start,
                                                   std::uint32_t term = 1);

  [[nodiscard]] Version version() const { return version_; }
  [[nodiscard]] std::uint64_t committed_samples() const { return committed_samples_; }
  [[nodiscard]] std::uint64_t repeated_samples() const { return repeated_samples_; }

  /// The parameters of version(), with the record of the commit that made them.
  [[nodiscard]] Parameters current() const;

  /// Takes the buffer that the next version goes into. False when all are held by others: try again later.
  bool reserve_next();

  struct Step {
    Payload sum;  ///< of gradients, or of moves
    std::uint64_t samples = 0;
    double norm = 0;  ///< that of the sum is not larger; where that leaves no doubt, it is not looked through
    double lr_factor = 1;    ///< of the schedule's learning rate
    Payload base = nullptr;  ///< w_b of the delay compensation; null: the parameters of the version before
  };
  /// w_next = optimizer(w, sum / samples) into the reserved buffer. Touches nothing that current() reads.
  /// False when the sum or the result holds an infinity or a NaN: the result must not be committed then; a
  /// sum that is not finite has not touched the optimizer's state either.
  bool take(const Step& step, TaskPool* pool);

  /// Makes the reserved buffer version V + 1; `round` is what went into it, `next` the round that opens with
  /// it.
  void commit(const Contribution& round, Round next, bool last);

  /// The version stays: `round` held no sample that could be taken.
  void skip(const Contribution& round, Round next, bool last);

  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot() const;

 private:
  explicit GlobalModel(Options options) : options_(std::move(options)) {}

  void tell_ledger();
  /// What the root keeps of refusals; the scheduler settles the same ones in rules/allotment.
  void keep(const std::vector<Refusal>& refused);
  [[nodiscard]] double clip(const Step& step, TaskPool* pool) const;
  bool take_compensated(const Step& step, double scale, double lr, TaskPool* pool);

  Options options_;
  Version version_;
  Payload w_;
  Payload before_;  ///< of the version before, where delay is compensated for
  std::shared_ptr<gpu::Buffer> next_;
  CommitRecord record_;
  std::uint64_t committed_samples_ = 0;
  std::uint64_t repeated_samples_ = 0;
  std::vector<IndexRange> ledger_;
  std::vector<IndexRange> quarantined_;
  std::uint64_t refused_ = 0;
  bool whole_ = true;                     ///< the optimizer's state is that of version()
  std::shared_ptr<const Ledger> told_{};  ///< the ledger as of version(), where it is told
};

}  // namespace thalweg::actors
