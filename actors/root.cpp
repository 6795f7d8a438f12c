#include "actors/root.hpp"

#include <cmath>
#include <string>
#include <utility>

namespace thalweg::actors {

// -- a commit
// --------------------------------------------------------------------------------------------------

void Root::Step::run(TaskPool* pool) {
  if (snapshot_first) snapshot = model->snapshot();
  finite = model->take(step, pool);
}

std::shared_ptr<Root::Step> Root::begin_step(Payload sum, const Contribution& round, double lr_factor,
                                             const Payload& origins) {
  const bool due = options_.checkpoint_every != 0 && options_.keeper && !checkpointing_ &&
                   options_.model->version().value >= next_checkpoint_;
  // Without a delay there is nothing to make up for: in lockstep, in a warm-up, and in the first round.
  const bool by_origin = options_.merge.base == rules::MergeRule::Base::origin;
  const bool present = round.base_version >= options_.model->version();
  const auto base = by_origin ? origins : present ? options_.model->current().payload : nullptr;
  return std::make_shared<Step>(Step{
      options_.model, {std::move(sum), round.samples, round.norm, lr_factor, base}, due, nullptr, false});
}

std::optional<Parameters> Root::finish_step(const Step& step, const Contribution& round) {
  if (step.snapshot) {
    checkpointing_ = true;
    next_checkpoint_ = checkpoint_after(step.snapshot->version);
    self_->tell(options_.keeper, Checkpoint{step.snapshot, AggregatorHandle(self_)});
  }
  if (!step.finite) {
    diverge("a sum of gradients or a parameter is no longer a finite number in round " +
                std::to_string(round.round.value),
            "a smaller learning rate may help");
    return std::nullopt;
  }
  empty_rounds_ = 0;
  options_.model->commit(round, round.round.next(), by_ != EndedBy::nobody);
  auto parameters = current();
  if (options_.hands_out_moves) {
    parameters.moves = step.step.sum;
    parameters.move_samples = step.step.samples;
  }
  return parameters;
}

void Root::announce(const Contribution& round, const Traffic& traffic) {
  const auto record = current().record;
  self_->tell(options_.scheduler, RoundClosed{round.round, round.spent, round.refused, round.work});
  self_->tell(options_.reporter, Committed{record, round.score, round.compute_ns, traffic.bytes_up,
                                           traffic.bytes_down, round.ages, round.work});
  const auto every = options_.evaluate_every;
  const auto before = record.committed_samples - round.samples;
  if (every != 0 && record.committed_samples / every != before / every) evaluate();
  one_more_ = false;
  conclude_if_ending();
}

std::optional<Parameters> Root::skip(const Contribution& round, std::size_t contributors) {
  self_->tell(options_.scheduler, RoundClosed{round.round, {}, round.refused, round.work});
  options_.model->skip(round, round.round.next(), by_ != EndedBy::nobody);
  if (!round.refused.empty() && ++empty_rounds_ >= options_.empty_rounds_max * contributors) {
    const auto& last = round.refused.back();
    const bool infinite = last.why == Refusal::Why::not_finite;
    diverge((empty_rounds_ == 1 ? std::string("in a round")
                                : "in " + std::to_string(empty_rounds_) + " rounds in a row") +
                " all gradients were refused, the last one of " + last.origin.text() + " since it is " +
                (infinite ? "not finite" : "larger than guard.max_norm"),
            infinite ? "a smaller learning rate may help" : "a larger guard.max_norm may help");
    return std::nullopt;
  }
  one_more_ = false;
  const auto parameters = current();
  conclude_if_ending();
  return parameters;
}

/// Nothing more is committed: the newest parameters stay those before this round, and the supervisor asks for
/// them.
void Root::diverge(const std::string& why, const std::string& advice) {
  self_->tell(options_.supervisor, Failed{self_->own_name(), why + ": " + advice, true, {}});
}

// -- what follows a commit
// -------------------------------------------------------------------------------------

void Root::evaluate() {
  const auto parameters = current();
  if (evaluated_ == parameters.version()) return;
  evaluated_ = parameters.version();
  ++evaluations_;
  self_->tell(options_.evaluator, Evaluate{parameters.version(), parameters.record.committed_samples,
                                           parameters.payload, AggregatorHandle(self_)});
}

void Root::evaluated(const Evaluation& evaluation) {
  --evaluations_;
  const auto& score = evaluation.score;
  if (!evaluation.failure.empty()) {
    self_->tell(options_.supervisor, Failed{"evaluator", evaluation.failure, false, {}});
  } else if (!std::isfinite(score.loss_sum)) {
    self_->tell(options_.supervisor,
                Failed{"evaluator",
                       "the loss is no longer a finite number at version " +
                           std::to_string(evaluation.version.value) + ": a smaller learning rate may help",
                       true,
                       {}});
  } else {
    self_->tell(options_.reporter, evaluation);
    const double accuracy = static_cast<double>(score.correct) / static_cast<double>(score.samples);
    if (options_.keep_best && options_.keeper && accuracy > options_.best_accuracy) {
      options_.best_accuracy = accuracy;
      self_->tell(options_.keeper,
                  Best{evaluation.version, evaluation.committed_samples, accuracy, evaluation.parameters});
    }
    if (options_.target_accuracy > 0 && accuracy >= options_.target_accuracy) {
      end(EndedBy::target_accuracy, true);
    }
  }
  conclude_if_ending();
}

std::uint64_t Root::checkpoint_after(Version version) const {
  const auto every = options_.checkpoint_every;
  return every == 0 ? 0 : (version.value / every + 1) * every;
}

void Root::checkpointed(const CheckpointDone& done) {
  checkpointing_ = false;
  self_->note({"checkpoint of version {} is done", {done.version.value}});
}

// -- the end
// ---------------------------------------------------------------------------------------------------

void Root::end(EndedBy by, bool after_this_round) {
  if (by_ == EndedBy::nobody) {
    by_ = by;
    one_more_ = after_this_round;
  } else if (!after_this_round) {
    one_more_ = false;
  }
  conclude_if_ending();
}

void Root::conclude_if_ending() {
  if (!ending() || outcome_sent_) return;
  evaluate();
  if (evaluations_ == 0) finish();
}

void Root::finish() {
  if (std::exchange(outcome_sent_, true)) return;
  self_->tell(options_.supervisor, Finished{options_.model->snapshot(), by_});
}

}  // namespace thalweg::actors
