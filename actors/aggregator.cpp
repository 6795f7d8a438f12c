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

using Trigger = rules::TriggerRule::Kind;

}  // namespace

std::size_t AggregatorState::sums_of(const rules::Method& method, std::size_t level) {
  if (method.trigger(level).kind == Trigger::pulled) return 2 * Tallies::most + 1;
  return method.adopt.kind == rules::AdoptRule::Kind::eager ? 5 : 2;
}

AggregatorHandle::behavior_type AggregatorState::start(Options options) {
  options_ = std::move(options);
  self_->name_is(options_.id.text());
  trigger_ = options_.method.trigger(options_.level);
  if (options_.root) root_.emplace(self_, std::move(*options_.root));
  self_->waits_for(scheduler, {"waits for its first roster"});
  return {
      [this](const Stamp&, const Parameters& parameters) { receive(parameters); },
      [this](const Stamp&, const Slowest& slowest) {
        for (const auto& member : members_) self_->tell(member.handle, slowest);
      },
      [this](const Stamp&, const Pull& pull) {
        pull_ = pull;
        proceed();
      },
      [this](const Stamp&, const Stop& request) { stop(request); },
      [this](const Stamp&, const Roster& roster) { update(roster); },
      [this](const Stamp&, const Contribution& contribution) { take(contribution); },
      [this](const Stamp&, const Progress& progress) { hear(progress); },
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
      [this](const Stamp&, const Drained& drained) {
        drained_ = drained.drained;
        batches_ = drained.batches;
        proceed();
      },
      [this](const Stamp&, const DataSpent&) { root_->end(EndedBy::data, false); },
  };
}

// -- members and what they send
// --------------------------------------------------------------------------------------------

AggregatorState::Member* AggregatorState::find(MemberId id) {
  const auto found =
      std::find_if(members_.begin(), members_.end(), [&](const Member& each) { return each.id == id; });
  return found == members_.end() ? nullptr : &*found;
}

void AggregatorState::update(const Roster& roster) {
  const bool first = !opened_ && !roster.added.empty();
  for (const auto& added : roster.added) {
    Member member{added.id, added.handle};
    member.asked = trigger_.asks_everybody() && first;  // a newcomer takes part from the next round on
    member.progress.id = added.id;
    members_.push_back(std::move(member));
  }
  for (const auto worker : roster.workers) clocks_.add(worker);
  workers_ += roster.workers.size();
  for (const auto& removed : roster.removed) {
    if (root_ && removed.kind == MemberId::Kind::worker) {
      clocks_.remove(removed.number);
      --workers_;
    }
    auto* member = find(removed);
    if (member == nullptr) continue;
    if (!options_.method.planned() && removed.kind == MemberId::Kind::worker) {
      self_->tell(options_.scheduler, Fenced{removed, member->serial});
    }
    if (!root_ && !options_.method.planned() && removed.kind == MemberId::Kind::leader) {
      self_->tell(options_.supervisor,
                  Failed{removed.text(),
                         "it is lost, and only the root can tell which samples of a lost leader count: with "
                         "this method a leader whose node may die belongs right below the root",
                         false,
                         {}});
    }
    if (pending(*member)) {
      member->gone = true;  // what it contributed counts
    } else {
      settled(*member);
      members_.erase(members_.begin() + (member - members_.data()));
    }
    self_->note({"round {} goes on with {} members", {round_.value, members_.size()}});
  }
  if (first) {
    opened_ = true;
    round_ = roster.first;
    if (root_) {
      if (options_.method.merge.base == rules::MergeRule::Base::origin) initial_ = root_->current().payload;
      publish(root_->current());
    }
    if (newest_) {  // that came before it
      catch_up();
      publish(*newest_);
    }
  } else {
    for (const auto& added : roster.added) welcome(added);
  }
  tell_slowest();
  proceed();
}

/// Whether something of it is here that is to count.
bool AggregatorState::pending(const Member& member) const {
  const auto by_it = [&](const Contribution& each) { return each.via == member.id; };
  return member.arrived || !member.early.empty() || std::any_of(arrivals_.begin(), arrivals_.end(), by_it) ||
         std::any_of(taken_.begin(), taken_.end(), by_it);
}

/// A lost member is off the roster, with nothing of it left here.
void AggregatorState::settled(const Member& member) {
  if (!root_ || options_.method.planned() || member.id.kind != MemberId::Kind::leader) return;
  self_->tell(options_.scheduler, Fenced{member.id, 0});
}

/// Gives a newcomer something to begin with: the newest parameters. Where contributions are answered one by
/// one the root is asked in its name, as though it had contributed nothing: what passed through here may be
/// old, and the root has to know what the newcomer has.
void AggregatorState::welcome(const Roster::Member& newcomer) {
  const bool asks = options_.method.pace.replies() && newcomer.id.kind == MemberId::Kind::worker;
  if (asks && (root_ || trigger_.kind == Trigger::forward)) {
    Contribution nothing;
    nothing.origin = nothing.via = newcomer.id;
    nothing.incarnation = self_->context().incarnation;
    nothing.round = round_;
    return take(nothing);
  }
  if (const auto parameters = newest()) send(*find(newcomer.id), *parameters);  // else they follow
}

void AggregatorState::take(const Contribution& arrived) {
  auto* member = find(arrived.via);
  if (member == nullptr || member->gone) return drop(arrived);
  Contribution contribution = arrived.via == arrived.origin ? guarded(arrived) : arrived;
  switch (trigger_.kind) {
    case Trigger::forward:
      count_bytes(arrived);
      member->serial = contribution.serial;
      return pass_on(*member, std::move(contribution));
    case Trigger::pulled:
      return take_pulled(*member, std::move(contribution), arrived);
    case Trigger::any:
    case Trigger::count:
      count_bytes(arrived);
      member->serial = contribution.serial;
      member->taken += contribution.iterations;
      routes_[contribution.origin] = member->handle;
      askers_.push_back({member->handle, {contribution.origin, contribution.seq}});
      arrivals_.push_back(std::move(contribution));
      return proceed();
    case Trigger::all:
    case Trigger::progress:
    case Trigger::quorum:
      return take_for_round(*member, std::move(contribution), arrived);
  }
}

void AggregatorState::count_bytes(const Contribution& contribution) {
  if (contribution.payload) bytes_up_ += contribution.payload->bytes();
}

void AggregatorState::drop(const Contribution& contribution) {
  ++dropped_;
  self_->note({"drops a contribution of round {}: round {} is open; {} dropped so far",
               {contribution.round.value, round_.value, dropped_}});
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
  refused.via = contribution.via;
  refused.incarnation = contribution.incarnation;
  refused.seq = contribution.seq;
  refused.round = contribution.round;
  refused.base_version = contribution.base_version;
  refused.iterations = contribution.iterations;
  refused.compute_ns = contribution.compute_ns;
  refused.work = contribution.work;
  for (auto& work : refused.work) work.samples = 0;
  refused.serial = contribution.serial;
  refused.refused.push_back({why, contribution.origin, contribution.spent, contribution.again});
  return refused;
}

/// What is further down makes its way to the root; leaders that are pulled add it to what they hold.
void AggregatorState::hear(const Progress& progress) {
  if (progress.rests) {
    // Under a gap rule the root waits for the slowest; elsewhere whoever closes a round waits for members.
    if (options_.method.pace.kind != rules::PaceRule::Kind::stale) {
      if (auto* member = find(progress.origin)) member->rested_at = progress.iterations;
      return proceed();
    }
    if (!root_) return self_->tell(options_.parent, progress);
    clocks_.rest(progress.origin.number, progress.iterations);
    tell_slowest();
    return proceed();  // somebody's answer may have waited for the slowest
  }
  if (auto* member = find(progress.origin)) {
    member->progress.iterations = std::max(member->progress.iterations, progress.iterations);
    if (!root_) return tell_progress();
    proceed();
  }
}

void AggregatorState::receive(const Parameters& parameters) {
  // Leaders that fold have answered whoever is meant.
  const bool forwards = trigger_.kind == Trigger::forward;
  if (forwards && parameters.answer && parameters.answer->to != options_.id) {
    const auto route = routes_.find(parameters.answer->to);
    if (route == routes_.end()) return;
    bytes_down_ += parameters.payload->bytes();
    return self_->tell(route->second, parameters);
  }
  handed_up_ = false;
  const bool first = !newest_;
  newest_ = parameters;
  newest_->answer.reset();
  catch_up();
  // Members that are answered one by one have the newest parameters from their answers.
  const bool answers = options_.method.pace.replies() && !trigger_.by_member();
  if (opened_ && (first || !answers)) publish(*newest_);
  proceed();
}

/// A leader that led nobody for a while begins again with the round that is open above.
void AggregatorState::catch_up() {
  const bool numbered = trigger_.by_member() && options_.method.numbered();
  const auto begins = newest_->begins.value_or(newest_->record.round);
  if (!opened_ || !numbered || closing_ || begins <= round_) return;
  round_ = Round{begins.value - 1};
  reopen();
}

void AggregatorState::proceed() {
  if (after_work_) return self_->waits_for(pool, {"round {} is on the task pool", {round_.value}});
  if (diverged_ || (root_ && (root_->ending() || members_.empty()))) {
    return self_->waits_for(supervisor, {"waits for the end of the run in round {}", {round_.value}});
  }
  if (!opened_) return;
  switch (trigger_.kind) {
    case Trigger::forward:
      return wait_for_members({"waits for contributions to pass on"});
    case Trigger::pulled:
      return proceed_pulled();
    case Trigger::any:
    case Trigger::count:
      return proceed_arrivals();
    case Trigger::all:
    case Trigger::progress:
    case Trigger::quorum:
      return proceed_round();
  }
}

void AggregatorState::wait_for_members(const rules::Reason& why) {
  if (handed_up_ && trigger_.by_member()) {
    return self_->waits_for([this] { return options_.parent_name; },
                            {"waits for what came of the round before {}", {round_.value}});
  }
  const auto missing = [this] {
    const auto found = std::find_if(members_.begin(), members_.end(),
                                    [](const Member& member) { return member.asked && !member.arrived; });
    if (found != members_.end()) return found->id.text();
    return members_.empty() ? std::string("supervisor") : members_.front().id.text();
  };
  self_->waits_for(missing, why);
}

// -- whatever the way
// ---------------------------------------------------------------------------------------

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

/// Has the root step along what is folded, if anything is.
void AggregatorState::commit() {
  total_.round = round_;
  const auto decision = root_->decide(total_);
  if (decision.action == rules::MergeAction::step && !root_->reserve()) {
    return retry_later({"waits for a free parameter buffer before it commits round {}", {round_.value}});
  }
  self_->note(decision.reason);
  if (decision.action == rules::MergeAction::skip) return skip();
  const auto held = held_.find(total_.origin);
  const auto& base = held != held_.end() ? held->second : initial_;
  const auto step = root_->begin_step(take_sum(), total_, decision.lr_factor, base);
  run(
      step->step.sum->bytes(), [step](TaskPool* pool) { step->run(pool); },
      [this, step] {
        const auto parameters = root_->finish_step(*step, total_);
        diverged_ = !parameters;
        if (diverged_) return;
        const Contribution round = std::exchange(total_, {});
        committed(*parameters, round);
        root_->announce(round, {bytes_up_, bytes_down_});
        reopen();
      });
}

/// Root: a round is closed, with a commit or without.
void AggregatorState::count_work(const Contribution& round) {
  finished_ += round.iterations;
  for (const auto& work : round.work) {
    auto& finished = iterations_of_[work.worker];
    finished = std::max(finished + work.steps, work.clock);
    clocks_.advance(work.worker, finished);
  }
}

void AggregatorState::committed(const Parameters& made, const Contribution& round) {
  count_work(round);
  Parameters parameters = made;
  if (options_.method.pace.kind == rules::PaceRule::Kind::stale)
    parameters.record.slowest = clocks_.slowest();
  if (trigger_.by_member()) publish(parameters);
  if (trigger_.kind != Trigger::progress) tell_slowest();
  answer_all();
}

void AggregatorState::skip() {
  const Contribution round = std::exchange(total_, {});
  count_work(round);
  const auto parameters = root_->skip(round, trigger_.by_member() ? 1 : workers_);
  diverged_ = !parameters;
  if (parameters && options_.method.by_rounds()) publish(*parameters);
  tell_slowest();
  reopen();
}

/// To every member, or to those that were asked.
void AggregatorState::publish(const Parameters& parameters) {
  const bool first = parameters.record.round == round_ && opened_ && contributions_ == 0;
  for (const auto& member : members_) {
    if (member.gone) continue;
    const bool wanted = options_.method.to_all || trigger_.kind != Trigger::progress || member.asked || first;
    if (!wanted) continue;
    send(member, parameters);
  }
}

void AggregatorState::send(const Member& member, Parameters parameters) {
  const bool newcomer = options_.method.by_rounds() && trigger_.kind != Trigger::progress && !member.asked;
  if (newcomer) parameters.begins = round_.next();
  // Members that never wait for a certain version need not get each; one that is far away could not keep up.
  parameters.newest_only = !options_.method.by_rounds() && !parameters.answer && !parameters.moves;
  bytes_down_ += parameters.payload->bytes();
  self_->tell(member.handle, std::move(parameters));
}

/// Root, where a gap is kept: says so when the slowest worker has gone on.
void AggregatorState::tell_slowest() {
  if (!root_ || options_.method.pace.kind != rules::PaceRule::Kind::stale) return;
  const auto slowest = clocks_.slowest();
  if (slowest <= told_slowest_) return;
  told_slowest_ = slowest;
  for (const auto& member : members_) self_->tell(member.handle, Slowest{slowest});
}

/// Root: whether all that was given out is in a closed round, or among the iterations that are here.
bool AggregatorState::all_in(std::uint64_t here) const { return drained_ && finished_ + here >= batches_; }

/// Root: whether no more can come than the iterations that are here: it is all, or everybody waits for the
/// slowest worker, which waits for this round.
bool AggregatorState::nothing_comes(std::uint64_t here) {
  if (all_in(here)) return true;
  const auto& pace = options_.method.pace;
  return pace.kind == rules::PaceRule::Kind::stale && here >= clocks_.room(pace.gap);
}

std::optional<Parameters> AggregatorState::newest() const { return root_ ? root_->current() : newest_; }

Payload AggregatorState::take_sum() {
  if (only_) return std::exchange(only_, nullptr);
  return std::exchange(sum_, nullptr);
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
