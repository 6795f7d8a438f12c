#pragma once

#include "actors/global_model.hpp"
#include "actors/role.hpp"
#include "actors/rules/merge.hpp"

#include <cstdint>
#include <memory>
#include <optional>

/// What the root does that no leader does: it owns the global model, makes the commits, has them evaluated
/// and kept, and ends the run. Part of the root's actor (actors/aggregator.hpp), which calls it when a round
/// is to be closed; runs where that does.
namespace thalweg::actors {

class Root {
 public:
  struct Options {
    std::shared_ptr<GlobalModel> model;  ///< shared with the task that steps it
    rules::MergeRule merge;
    double mean_batch = 0;               ///< B/λ: the global batch over the workers
    bool hands_out_moves = false;        ///< parameters carry the moves that made them, for eager workers
    std::uint64_t evaluate_every = 0;    ///< samples; 0: only at the end
    std::uint64_t checkpoint_every = 0;  ///< commits; 0: none while the run goes on
    bool keep_best = false;
    double best_accuracy = -1;           ///< of the run that this one goes on with
    double target_accuracy = 0;          ///< 0: none
    std::uint64_t empty_rounds_max = 3;  ///< so many rounds in a row with everything refused: diverged
    SchedulerHandle scheduler;
    EvaluatorHandle evaluator;
    ReporterHandle reporter;
    KeeperHandle keeper;  ///< null: nothing is kept
    SupervisorHandle supervisor;
  };
  struct Traffic {
    std::uint64_t bytes_up = 0, bytes_down = 0;
  };

  Root(RoleBase<AggregatorHandle>* self, Options options)
      : self_(self),
        options_(std::move(options)),
        next_checkpoint_(checkpoint_after(options_.model->version())) {}

  [[nodiscard]] Parameters current() const { return options_.model->current(); }
  /// Whether no further round is closed.
  [[nodiscard]] bool ending() const { return by_ != EndedBy::nobody && !one_more_; }

  /// Has a buffer for the next version. False: all are in use, try again later.
  bool reserve() { return options_.model->reserve_next(); }

  /// What is left to do to make a commit, on whatever thread. `finish_step` follows on the actor's own.
  /// `origins`: parameters that the sum's origin had, where a delay is measured from those.
  struct Step {
    std::shared_ptr<GlobalModel> model;
    GlobalModel::Step step;
    bool snapshot_first = false;
    std::shared_ptr<const Snapshot> snapshot;  ///< of the version before, when it is due
    bool finite = false;

    void run(TaskPool* pool);
  };
  std::shared_ptr<Step> begin_step(Payload sum, const Contribution& round, double lr_factor,
                                   const Payload& origins);

  /// What the sum `round` would do to w.
  [[nodiscard]] rules::MergeDecision decide(const Contribution& round) const {
    return options_.merge.decide({round.round, round.samples, round.batch, options_.mean_batch});
  }

  /// Makes what `step` computed the next version; the parameters to publish. Nothing: the run has diverged.
  std::optional<Parameters> finish_step(const Step& step, const Contribution& round);
  /// After the new version was published: tells everybody else.
  void announce(const Contribution& round, const Traffic& traffic);

  /// The round made no commit: the parameters to publish all the same. Nothing: the run has diverged.
  /// `contributors`: how many a round without anything good would have to come from.
  std::optional<Parameters> skip(const Contribution& round, std::size_t contributors);

  void evaluated(const Evaluation& evaluation);
  void checkpointed(const CheckpointDone& done);
  /// No round follows, or none but the one in flight.
  void end(EndedBy by, bool after_this_round);
  /// Hands the outcome to the supervisor, once.
  void finish();

 private:
  void diverge(const std::string& why, const std::string& advice);
  void evaluate();
  void conclude_if_ending();
  /// The first version after this one that is to be kept.
  [[nodiscard]] std::uint64_t checkpoint_after(Version version) const;

  RoleBase<AggregatorHandle>* self_;
  Options options_;
  EndedBy by_ = EndedBy::nobody;      ///< why the run ends
  bool one_more_ = false;             ///< but only after the round in flight
  std::optional<Version> evaluated_;  ///< the newest version that was handed to the evaluator
  std::size_t evaluations_ = 0;       ///< under way
  bool checkpointing_ = false;        ///< the keeper is at work
  std::uint64_t next_checkpoint_;     ///< version; the next one that is free of the keeper, from there on
  std::uint64_t empty_rounds_ = 0;    ///< in a row
  bool outcome_sent_ = false;         ///< the supervisor has the snapshot
};

}  // namespace thalweg::actors
