#include "actors/aggregator.hpp"

#include "actors/fold.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace thalweg::actors {

namespace {

/// How long an aggregator waits before it looks again for a free buffer.
constexpr std::chrono::milliseconds buffer_retry{1};

// Whom an aggregator can wait for, beside members and parent.
std::string pool() { return "task pool"; }
std::string scheduler() { return "scheduler"; }
std::string supervisor() { return "supervisor"; }

}  // namespace

AggregatorHandle::behavior_type AggregatorState::start(Options options) {
  options_ = std::move(options);
  self_->name_is(options_.id.text());
  trigger_ = options_.method.trigger();
  merge_ = options_.method.merge();
  if (options_.root) root_.emplace(self_, std::move(*options_.root));
  self_->waits_for(scheduler, {"waits for its first roster"});
  return {
      [this](const Stamp&, const Parameters& parameters) {
        handed_up_ = false;
        if (!opened_) early_ = parameters;
        publish(parameters);
        proceed();
      },
      [this](const Stamp&, const Stop& request) { stop(request); },
      [this](const Stamp&, const Roster& roster) { update(roster); },
      [this](const Stamp&, const Contribution& contribution) { take(contribution); },
      [this](const Stamp&, const FoldDone&) {
        std::exchange(after_work_, nullptr)();
        if (quitting_) return quit();
        proceed();
      },
      [this](const Stamp&, const Tick&) {
        retrying_ = false;
        proceed();
      },
      [this](const Stamp&, const Evaluation& evaluation) { root_->evaluated(evaluation); },
      [this](const Stamp&, const CheckpointDone& done) { root_->checkpointed(done); },
      [this](const Stamp&, const DataSpent&) { root_->end(EndedBy::data, false); },
  };
}

// -- the round
// -------------------------------------------------------------------------------------------------

void AggregatorState::update(const Roster& roster) {
  const bool first = !opened_ && !roster.added.empty();
  for (const auto& member : roster.added) members_.push_back({member.id, member.handle, {}, false, false});
  for (const auto& removed : roster.removed) {
    const auto member = std::find_if(members_.begin(), members_.end(),
                                     [&](const Member& each) { return each.id == removed; });
    if (member == members_.end()) continue;
    if (member->arrived) {
      member->gone = true;  // what it contributed counts
    } else {
      members_.erase(member);
    }
    self_->note({"round {} goes on with {} members", {round_.value, members_.size()}});
  }
  if (first) {
    opened_ = true;
    round_ = roster.first;
    if (root_) publish(root_->current());
    if (early_) publish(*std::exchange(early_, std::nullopt));
  }
  proceed();
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
  if (contribution.payload) bytes_up_ += contribution.payload->bytes();
  member->arrived = true;
  member->waiting = guarded(contribution);
  ++arrived_;
  proceed();
}

/// The contribution, or, when its numbers are no good, one that says so and adds nothing.
Contribution AggregatorState::guarded(const Contribution& contribution) {
  if (contribution.origin.kind != MemberId::Kind::worker || contribution.samples == 0) return contribution;
  const auto decision =
      options_.guard.decide({contribution.round, contribution.origin.number, contribution.samples,
                             contribution.score.loss_sum, contribution.norm});
  if (decision.action == rules::GuardAction::accept) return contribution;
  self_->note(decision.reason);
  const auto why = decision.action == rules::GuardAction::refuse_too_large ? Refusal::Why::too_large
                                                                           : Refusal::Why::not_finite;
  Contribution refused;
  refused.origin = contribution.origin;
  refused.round = contribution.round;
  refused.base_version = contribution.base_version;
  refused.compute_ns = contribution.compute_ns;
  refused.refused.push_back({why, contribution.origin, contribution.spent, contribution.again});
  return refused;
}

void AggregatorState::proceed() {
  if (after_work_) return self_->waits_for(pool, {"round {} is on the task pool", {round_.value}});
  // Nobody to wait for: the run ends, or this leader was taken off its parent's roster.
  if (members_.empty() || diverged_ || (root_ && root_->ending())) {
    return self_->waits_for(supervisor, {"waits for the end of the run in round {}", {round_.value}});
  }
  if (!closing_) {
    if (!fold_ready()) return;
    const auto decision = trigger_->decide({round_, members_.size(), arrived_, folded_});
    self_->note(decision.reason);
    closing_ = decision.action == rules::TriggerAction::close;
    if (!closing_) return wait_for_members(decision.reason);
  }
  self_->goes_on();
  root_ ? commit() : contribute();
  if (!closing_) proceed();  // the next round is open: whom it waits for is recorded there
}

void AggregatorState::wait_for_members(const rules::Reason& why) {
  if (handed_up_) {
    return self_->waits_for([this] { return options_.parent_name; },
                            {"waits for what came of the round before {}", {round_.value}});
  }
  const auto missing = [this] {
    const auto found =
        std::find_if(members_.begin(), members_.end(), [](const Member& member) { return !member.arrived; });
    return found == members_.end() ? std::string("itself") : found->id.text();
  };
  self_->waits_for(missing, why);
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
  total_.refused.insert(total_.refused.end(), contribution.refused.begin(), contribution.refused.end());
  total_.score += contribution.score;
  total_.norm += contribution.norm;
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
  self_->waits_for(pool, {"round {} is on the task pool", {round_.value}});
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
  self_->waits_for([] { return std::string("the holder of a buffer"); }, why);
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
  handed_up_ = true;
  reopen();
}

void AggregatorState::commit() {
  const auto decision = merge_->decide({round_, total_.samples});
  if (decision.action == rules::MergeAction::step && !root_->reserve()) {
    return retry_later({"waits for a free parameter buffer before it commits round {}", {round_.value}});
  }
  self_->note(decision.reason);
  total_.round = round_;
  if (decision.action == rules::MergeAction::skip) {
    const auto parameters = root_->skip(std::exchange(total_, {}));
    diverged_ = !parameters;
    reopen();
    if (parameters) publish(*parameters);
    return;
  }
  const auto step = root_->begin_step(take_sum(), total_);
  run(
      step->sum->bytes(), [step](TaskPool* pool) { step->run(pool); },
      [this, step] {
        const auto parameters = root_->finish_step(*step, total_);
        diverged_ = !parameters;
        if (diverged_) return;
        publish(*parameters);
        root_->announce(std::exchange(total_, {}), {bytes_up_, bytes_down_});
        reopen();
      });
}

void AggregatorState::publish(const Parameters& parameters) {
  for (const auto& member : members_) {
    if (member.gone) continue;
    bytes_down_ += parameters.payload->bytes();
    self_->tell(member.handle, parameters);
  }
}

Payload AggregatorState::take_sum() {
  if (only_) return std::exchange(only_, nullptr);
  return std::exchange(sum_, nullptr);
}

void AggregatorState::reopen() {
  std::erase_if(members_, [](const Member& member) { return member.gone; });
  for (auto& member : members_) member.arrived = false;
  round_ = round_.next();
  arrived_ = folded_ = 0;
  total_ = {};
  closing_ = false;
}

// -- the end
// ---------------------------------------------------------------------------------------------------

void AggregatorState::stop(const Stop& request) {
  if (request.when == Stop::When::after_round) {
    if (root_) root_->end(request.by, true);
  } else if (after_work_ && root_) {
    quitting_ = true;  // the pool is stepping the model: hand it over when it is whole
  } else {
    quit();
  }
}

void AggregatorState::quit() {
  if (root_) root_->finish();
  self_->leave(options_.supervisor, {{}, 0, options_.level, bytes_up_, bytes_down_});
}

}  // namespace thalweg::actors
