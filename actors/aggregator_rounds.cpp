#include "actors/aggregator.hpp"
#include "actors/fold.hpp"

#include <algorithm>
#include <utility>

/// How an aggregator collects by member, a round at a time: `all`, `quorum`, and `progress` at the root,
/// where the members of a round are those that are pulled.
namespace thalweg::actors {

using Trigger = rules::TriggerRule::Kind;

void AggregatorState::take_for_round(Member& member, Contribution contribution, const Contribution& arrived) {
  // Where every member contributes to every round, its number says where a contribution belongs. Elsewhere
  // rounds close over the late and over who rests: what comes next of a member counts in the next one that
  // has nothing of it yet.
  const bool own =
      contribution.origin == member.id;  // leaders that take contributions one by one pass some on
  const bool again = own && contribution.seq < member.next_seq;
  const bool numbered = trigger_.kind == Trigger::progress || options_.method.numbered();
  const bool fits = !again && member.asked && !member.arrived && (contribution.round == round_ || !numbered);
  const bool early =
      !again && trigger_.kind != Trigger::progress && !fits && (contribution.round > round_ || !numbered);
  if (!fits && !early) return drop(contribution);
  count_bytes(arrived);
  if (own) member.next_seq = contribution.seq + 1;
  member.taken += contribution.iterations;
  member.serial = std::max(member.serial, contribution.serial);
  if (early) {
    member.early.push_back(std::move(contribution));
    return;
  }
  member.progress.pulled += contribution.iterations;
  member.has(std::move(contribution));
  proceed();
}

rules::TriggerView AggregatorState::round_view() {
  rules::TriggerView view;
  view.round = round_;
  view.workers = workers_;
  for (const auto& member : members_) {
    if (!member.asked || (member.rests() && !member.arrived)) continue;
    ++view.members;
    if (member.arrived) ++view.arrived;
    if (member.arrived && member.worth) ++view.worth;
    if (member.arrived && !member.waiting) ++view.folded;
  }
  if (trigger_.kind == Trigger::quorum && view.worth >= trigger_.count && view.arrived < view.members) {
    if (quorum_at_.count() == 0) {
      quorum_at_ = self_->clock().now();
      if (trigger_.grace.count() > 0) self_->tell_later(AggregatorHandle(self_), trigger_.grace, Tick{});
    }
    view.waited = self_->clock().now() - quorum_at_;
  }
  return view;
}

void AggregatorState::proceed_round() {
  if (trigger_.kind == Trigger::progress && !pulling_ && !pull_if_due()) return;
  if (members_.empty()) {
    // Where rounds are planned the parent was told; elsewhere it waits for an empty contribution.
    const bool open = newest_ && newest_->record.round >= round_;
    if (open) round_ = newest_->record.round;
    if (options_.method.planned() || !options_.method.by_rounds() || !open) {
      tell_rest();
      // Others need the buffers; but who has just been put back on the roster needs them itself.
      if (options_.method.planned() && newest_ && !newest_->begins) newest_.reset();
      return self_->waits_for([this] { return options_.parent_name; },
                              {"leads nobody any more: waits for round {}", {round_.value}});
    }
  }
  if (!closing_) {
    if (!fold_ready(false)) return;
    const auto view = round_view();
    const bool newcomers_only =
        std::none_of(members_.begin(), members_.end(), [](const Member& member) { return member.asked; });
    if (view.members == 0 && !members_.empty() && !newcomers_only) {
      tell_rest();
      return wait_for_members({"round {} waits for anybody: all that would contribute rest", {round_.value}});
    }
    if (trigger_.kind == Trigger::quorum && handed_up_) {
      return wait_for_members({"round {} is not open yet above", {round_.value}});
    }
    const auto decision = trigger_.decide(view);
    self_->note(decision.reason);
    closing_ = decision.action == rules::TriggerAction::close;
    if (!closing_) return wait_for_members(decision.reason);
  }
  if (trigger_.kind == Trigger::quorum && !fold_ready(true)) return;
  self_->goes_on();
  root_ ? commit() : contribute();
  if (!closing_) proceed();  // the next round is open: whom it waits for is recorded there
}

/// Root: asks those leaders for what they hold that the rule names.
bool AggregatorState::pull_if_due() {
  std::vector<rules::GroupProgress> groups;
  for (const auto& member : members_) {
    if (!member.gone) groups.push_back(member.progress);
  }
  std::uint64_t unpulled = 0;
  for (const auto& group : groups) unpulled += group.unpulled();
  rules::PullView view{round_, pulling_, all_in(unpulled), workers_, groups};
  if (options_.method.pace.kind == rules::PaceRule::Kind::stale) {
    view.room = clocks_.room(options_.method.pace.gap);
  }
  const auto decision = options_.method.pull.decide(view);
  self_->note(decision.reason);
  if (decision.action == rules::PullAction::wait) {
    wait_for_members(decision.reason);
    return false;
  }
  pulling_ = true;
  for (auto& member : members_) {
    member.asked = std::find(decision.from.begin(), decision.from.end(), member.id) != decision.from.end();
    if (member.asked) self_->tell(member.handle, Pull{round_, root_->current().version()});
  }
  return true;
}

/// Folds the members that have arrived, in their order: up to the first that has not, or, with `all_here`
/// (nobody else is waited for), all of them. True: nothing is left to fold now.
bool AggregatorState::fold_ready(bool all_here) {
  std::vector<std::size_t> ready;
  std::size_t asked = 0;
  for (const auto& member : members_) asked += member.asked ? 1 : 0;
  std::vector<Payload> sources;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    auto& member = members_[i];
    if (member.waiting) {
      ready.push_back(i);
      if (member.waiting->payload) sources.push_back(member.waiting->payload);
    } else if (member.asked && !member.arrived && !member.rests() && !all_here) {
      break;
    }
  }
  const auto count_in = [this, ready] {
    for (const auto i : ready) {
      add_up(total_, *members_[i].waiting);
      members_[i].waiting.reset();
    }
  };
  if (asked == 1 && sources.size() == 1 && !sum_ && !only_) {
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
        fold(*sum, sources, {}, accumulate, pool);
      },
      count_in);
}

void AggregatorState::contribute() {
  total_.origin = total_.via = options_.id;
  total_.incarnation = self_->context().incarnation;
  total_.seq = contributions_;
  total_.round = round_;
  total_.payload = take_sum();
  handed_up_iterations_ += total_.iterations;
  rest_told_ = false;
  self_->tell(options_.parent, std::exchange(total_, {}));
  handed_up_ = true;
  reopen();
}

void AggregatorState::reopen() {
  ++contributions_;
  const bool arrivals = !trigger_.by_member();
  taken_.clear();
  for (auto& member : members_) member.arrived = false;
  std::erase_if(members_, [&](const Member& member) {
    if (!member.gone || (arrivals ? pending(member) : !member.early.empty())) return false;
    settled(member);
    return true;
  });
  round_ = round_.next();
  total_ = {};
  closing_ = folded_ = pulling_ = false;
  quorum_at_ = {};
  for (auto& member : members_) {
    member.asked = trigger_.asks_everybody();
    if (member.early.empty()) continue;
    if (options_.method.numbered() && member.early.front().round > round_) continue;
    member.has(std::move(member.early.front()));
    member.early.pop_front();
  }
}

}  // namespace thalweg::actors
