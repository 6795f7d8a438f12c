#include "actors/aggregator.hpp"

#include "actors/fold.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace thalweg::actors {

namespace {

/// How long an aggregator waits before it looks again for a free buffer.
constexpr std::chrono::milliseconds buffer_retry{1};

}  // namespace

AggregatorHandle::behavior_type AggregatorState::start(Options options) {
  options_ = std::move(options);
  self_->name_is(options_.id.text());
  trigger_ = options_.method.trigger();
  merge_ = options_.method.merge();
  return {
      [this](const Stamp&, const Parameters& parameters) { publish(parameters); },
      [this](const Stamp&, const Stop& request) { stop(request); },
      [this](const Stamp&, const Roster& roster) { open(roster); },
      [this](const Stamp&, const Contribution& contribution) { take(contribution); },
      [this](const Stamp&, const FoldDone&) {
        std::exchange(after_work_, nullptr)();
        if (quitting_) return quit();
        proceed();
      },
      [this](const Stamp&, const Evaluation& evaluation) { evaluated(evaluation); },
      [this](const Stamp&, const Tick&) {
        retrying_ = false;
        proceed();
      },
  };
}

// -- the round
// -------------------------------------------------------------------------------------------------

void AggregatorState::open(const Roster& roster) {
  for (const auto& member : roster.members) members_.push_back({member.id, member.handle, {}, false});
  round_ = roster.first;
  if (options_.root) publish(options_.root->model->current());
}

void AggregatorState::take(const Contribution& contribution) {
  const auto member = std::find_if(members_.begin(), members_.end(),
                                   [&](const Member& each) { return each.id == contribution.origin; });
  if (member == members_.end() || contribution.round != round_ || member->arrived) {
    ++dropped_;
    self_->note({"drops a contribution of round {}: round {} is open; {} dropped so far",
                 {contribution.round.value, round_.value, dropped_}});
    return;
  }
  member->arrived = true;
  member->waiting = contribution;
  ++arrived_;
  if (contribution.payload) bytes_up_ += contribution.payload->bytes();
  proceed();
}

void AggregatorState::proceed() {
  if (after_work_ || finished_) return;
  if (!closing_) {
    if (!fold_ready()) return;
    const auto decision = trigger_->decide({round_, members_.size(), arrived_, folded_});
    self_->note(decision.reason);
    closing_ = decision.action == rules::TriggerAction::close;
  }
  if (!closing_) return;
  if (options_.root) {
    commit();
  } else {
    contribute();
  }
}

/// Folds the members that have arrived, up to the first that has not. True: nothing is left to fold now.
bool AggregatorState::fold_ready() {
  std::size_t end = folded_;
  std::vector<Payload> sources;
  for (; end < members_.size() && members_[end].waiting; ++end) {
    if (members_[end].waiting->payload) sources.push_back(members_[end].waiting->payload);
  }
  const auto count_in = [this, end] {
    for (; folded_ < end; ++folded_) {
      add_up(*members_[folded_].waiting);
      members_[folded_].waiting.reset();
    }
  };
  if (members_.size() == 1 && !sources.empty()) {
    only_ = std::move(sources.front());
    sources.clear();
  }
  if (sources.empty()) {
    count_in();
    return true;
  }
  const bool accumulate = sum_ != nullptr;
  if (!accumulate) sum_ = options_.sums->take();
  if (!sum_) {
    retry_later({"waits for its parent to let go of a sum before it folds round {}", {round_.value}});
    return false;
  }
  return run(
      sum_->bytes(),
      [sum = sum_, sources = std::move(sources), accumulate](TaskPool* pool) {
        fold(*sum, sources, accumulate, pool);
      },
      count_in);
}

void AggregatorState::add_up(const Contribution& contribution) {
  total_.base_version = contribution.base_version;
  total_.samples += contribution.samples;
  total_.batch += contribution.batch;
  total_.steps = std::max(total_.steps, contribution.steps);
  total_.iterations += contribution.iterations;
  for (const auto& range : contribution.spent) {
    // Neighbouring members take neighbouring positions, so a round stays one range all the way up.
    const bool continues = !total_.spent.empty() && total_.spent.back().epoch == range.epoch &&
                           total_.spent.back().end() == range.begin;
    if (continues) {
      total_.spent.back().count += range.count;
    } else {
      total_.spent.push_back(range);
    }
  }
  total_.score += contribution.score;
  total_.compute_ns += contribution.compute_ns;
}

/// Does `work`, then `after`: at once when the vector is small (returns true), else on the pool, and the
/// actor goes on when FoldDone arrives (returns false).
bool AggregatorState::run(std::size_t bytes, std::function<void(TaskPool*)> work,
                          std::function<void()> after) {
  if (options_.pool == nullptr || bytes <= fold_inline_bytes_max) {
    work(nullptr);
    after();
    return true;
  }
  after_work_ = std::move(after);
  options_.pool->submit([work = std::move(work), pool = options_.pool, self = AggregatorHandle(self_),
                         stamp = self_->stamp_for<FoldDone>(), &context = self_->context(),
                         name = self_->own_name()] {
    work(pool);
    post(context, name, self, stamp, FoldDone{});
  });
  return false;
}

void AggregatorState::retry_later(const rules::Reason& why) {
  self_->note(why);
  if (!std::exchange(retrying_, true)) self_->tell_later(AggregatorHandle(self_), buffer_retry, Tick{});
}

// -- closing it
// ------------------------------------------------------------------------------------------------

void AggregatorState::contribute() {
  total_.origin = options_.id;
  total_.incarnation = self_->context().incarnation;
  total_.seq = round_.value;
  total_.round = round_;
  total_.payload = take_sum();
  self_->tell(options_.parent, std::move(total_));
  reopen();
}

void AggregatorState::commit() {
  auto& model = options_.root->model;
  if (!std::isfinite(total_.score.loss_sum)) return diverge("the loss");
  if (!model->reserve_next()) {
    return retry_later({"waits for a free parameter buffer before it commits round {}", {round_.value}});
  }
  const auto decision = merge_->decide({round_, total_.samples});
  self_->note(decision.reason);
  THALWEG_CHECK(decision.action == rules::MergeAction::step, "a round of lockstep sampling holds samples");
  const Payload sum = take_sum();
  const auto finite = std::make_shared<bool>();
  run(
      sum->bytes(),
      [model, sum, samples = total_.samples, finite](TaskPool* pool) {
        *finite = model->step(*sum, samples, pool);
      },
      [this, finite] { *finite ? committed() : diverge("a gradient or a parameter"); });
}

/// Nothing more is committed: the newest parameters stay those before this round, and the supervisor asks for
/// them.
void AggregatorState::diverge(const char* what) {
  closing_ = false;
  finished_ = true;
  self_->tell(options_.supervisor,
              Failed{options_.id.text(),
                     std::string(what) + " is no longer a finite number in round " +
                         std::to_string(round_.value) + ": a smaller learning rate may help",
                     true});
}

void AggregatorState::committed() {
  const auto& root = *options_.root;
  root.model->commit(total_, last_round_);
  const auto parameters = root.model->current();
  publish(parameters);
  Committed record{parameters.record,
                   total_.score,
                   total_.compute_ns,
                   bytes_up_,
                   bytes_down_,
                   root.model->committed_samples() - root.model->repeated_samples(),
                   root.model->repeated_samples()};
  self_->tell(root.scheduler, record);
  self_->tell(root.reporter, std::move(record));
  reopen();
  evaluate(parameters);
}

void AggregatorState::publish(const Parameters& parameters) {
  for (const auto& member : members_) {
    bytes_down_ += parameters.payload->bytes();
    self_->tell(member.handle, parameters);
  }
}

void AggregatorState::evaluate(const Parameters& parameters) {
  const auto& root = *options_.root;
  const bool due = root.evaluate_every != 0 && parameters.version().value % root.evaluate_every == 0;
  if (!due && !parameters.record.last) return;
  ++evaluations_;
  self_->tell(root.evaluator, Evaluate{parameters.version(), parameters.record.committed_samples,
                                       parameters.payload, AggregatorHandle(self_)});
}

Payload AggregatorState::take_sum() {
  if (only_) return std::exchange(only_, nullptr);
  return std::exchange(sum_, nullptr);
}

void AggregatorState::reopen() {
  for (auto& member : members_) member.arrived = false;
  round_ = round_.next();
  arrived_ = folded_ = 0;
  total_ = {};
  closing_ = false;
}

// -- the end
// ---------------------------------------------------------------------------------------------------

void AggregatorState::evaluated(const Evaluation& evaluation) {
  --evaluations_;
  if (!evaluation.failure.empty()) {
    self_->tell(options_.supervisor, Failed{"evaluator", evaluation.failure});
  } else if (!std::isfinite(evaluation.score.loss_sum)) {
    self_->tell(options_.supervisor,
                Failed{"evaluator",
                       "the loss on the test set is no longer a finite number at version " +
                           std::to_string(evaluation.version.value) + ": a smaller learning rate may help",
                       true});
  } else {
    self_->tell(options_.root->reporter, evaluation);
  }
  if (evaluations_ == 0 && options_.root->model->current().record.last) finish();
}

void AggregatorState::stop(const Stop& request) {
  if (request.when == Stop::When::after_round) {
    last_round_ = true;
  } else if (after_work_ && options_.root) {
    quitting_ = true;  // the pool is stepping the model: hand it over when it is whole
  } else {
    quit();
  }
}

void AggregatorState::quit() {
  if (options_.root) finish();
  self_->tell(options_.supervisor, Stopped{options_.id.text(), self_->messages_handled(), options_.level,
                                           true, bytes_up_, bytes_down_});
  self_->quit();
}

void AggregatorState::finish() {
  if (std::exchange(outcome_sent_, true)) return;
  finished_ = true;
  const auto& model = *options_.root->model;
  self_->tell(options_.supervisor, Finished{model.snapshot(), !model.at_end()});
}

}  // namespace thalweg::actors
