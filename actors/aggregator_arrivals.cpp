#include "actors/aggregator.hpp"
#include "actors/fold.hpp"
#include "actors/rules/staleness.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

/// How an aggregator takes contributions as they arrive: `any` and `count`, and how a leader passes them on
/// unfolded: `forward`. Whoever contributed is answered with the newest parameters.
namespace thalweg::actors {

namespace {

/// A worker has so many buffers for gradients, and a leader for sums, where contributions are taken one by
/// one.
constexpr std::size_t contributions_under_way = 2;

}  // namespace

void AggregatorState::pass_on(const Member& member, Contribution contribution) {
  routes_[contribution.origin] = member.handle;
  contribution.via = options_.id;
  self_->tell(options_.parent, std::move(contribution));
}

void AggregatorState::proceed_arrivals() {
  while (!after_work_) {
    if (!closing_) {
      if (settle_empty()) {
        if (diverged_) return;
        continue;
      }
      const auto arrived = arrivals_.size();
      const bool forwarded = root_ && options_.method.trigger(1).kind == rules::TriggerRule::Kind::forward;
      const bool no_more = root_ ? no_more_arrives() : all_rest();
      rules::TriggerView view{round_, members_.size(), arrived, 0, workers_, no_more && arrived > 0};
      view.contributors = forwarded ? workers_ : members_.size();
      const auto decision = trigger_.decide(view);
      self_->note(decision.reason);
      if (decision.action == rules::TriggerAction::wait) {
        answer_all();
        if (arrived == 0 && all_rest()) tell_rest();
        return wait_for_members(decision.reason);
      }
      closing_ = true;
      taken_.assign(std::make_move_iterator(arrivals_.begin()), std::make_move_iterator(arrivals_.end()));
      arrivals_.clear();
    }
    if (!folded_ && !fold_arrivals()) return;
    self_->goes_on();
    root_ ? commit() : contribute();
    if (closing_) return;  // on the pool, or no buffer was free
    if (diverged_ || (root_ && root_->ending())) return proceed();
    if (!root_) answer_all();
  }
}

/// What holds no sample waits for nobody. True: there was one.
bool AggregatorState::settle_empty() {
  const auto empty = std::find_if(arrivals_.begin(), arrivals_.end(),
                                  [](const Contribution& each) { return each.samples == 0; });
  if (empty == arrivals_.end()) return false;
  auto contribution = std::move(*empty);
  arrivals_.erase(empty);
  if (root_) {
    total_ = std::move(contribution);
    total_.round = round_;
    skip();
  } else {
    contribution.via = options_.id;
    handed_up_iterations_ += contribution.iterations;
    rest_told_ = false;
    self_->tell(options_.parent, std::move(contribution));
  }
  return true;
}

/// Folds what the round was closed with, each weighed by its age at the root. True: it is folded.
bool AggregatorState::fold_arrivals() {
  const auto scaling = root_ ? options_.method.merge.scaling : rules::StalenessScaling::none;
  const auto now = root_ ? root_->current().version() : Version{};
  std::vector<Payload> sources;
  std::vector<float> weights;
  for (const auto& each : taken_) {
    sources.push_back(each.payload);
    weights.push_back(rules::staleness_weight(scaling, rules::staleness(now, each.base_version)));
  }
  const auto count_in = [this] {
    for (const auto& each : taken_) add_up(total_, each);
    total_.origin = taken_.size() == 1 ? taken_.front().origin : options_.id;
    taken_.clear();
    folded_ = true;
  };
  if (sources.size() == 1 && weights.front() == 1) {
    only_ = std::move(sources.front());
    count_in();
    return true;
  }
  sum_ = options_.sums->take();
  if (!sum_) {
    retry_later({"waits for its parent to let go of a sum before it folds round {}", {round_.value}});
    return false;
  }
  return run(
      sum_->bytes(),
      [sum = sum_, sources = std::move(sources), weights = std::move(weights)](TaskPool* pool) {
        fold(*sum, sources, weights, false, pool);
      },
      count_in);
}

/// Root: also not when whoever still has something to contribute has all of its buffers here.
bool AggregatorState::no_more_arrives() {
  std::uint64_t iterations = 0;
  std::map<MemberId, std::size_t> of;
  bool full = false;
  for (const auto& each : arrivals_) {
    iterations += each.iterations;
    full = full || ++of[each.origin] >= contributions_under_way;
  }
  return (drained_ && full) || nothing_comes(iterations);
}

bool AggregatorState::all_rest() const {
  return std::all_of(members_.begin(), members_.end(), [](const Member& member) { return member.rests(); });
}

/// Where a leader above waits for its members: this one waits for nobody who would contribute.
void AggregatorState::tell_rest() {
  if (root_ || !options_.method.tells_rest() || std::exchange(rest_told_, true)) return;
  self_->tell(options_.parent, Progress{options_.id, handed_up_iterations_, {}, true});
}

/// Answers everybody who contributed since the last time, at the root also where nobody waits for it.
void AggregatorState::answer_all() {
  const bool answers = options_.method.pace.replies() || (root_ && !options_.method.to_all);
  if (askers_.empty() || !answers) return askers_.clear();
  auto parameters = newest();
  if (!parameters) return;
  // Under a gap rule who is too far ahead is answered when the slowest has gone on, with what came of that.
  const auto& pace = options_.method.pace;
  const bool gap = root_ && pace.kind == rules::PaceRule::Kind::stale;
  const auto slowest = gap ? clocks_.slowest() : 0;
  std::vector<Asker> held_back;
  if (gap) parameters->record.slowest = slowest;
  const bool keeps = root_ && options_.method.merge.compensation != rules::MergeRule::Compensation::none;
  for (const auto& asker : std::exchange(askers_, {})) {
    const auto clock = gap ? clocks_.of(asker.answer.to.number) : 0;
    if (clock > pace.gap && clock - pace.gap > slowest) {
      held_back.push_back(asker);
      continue;
    }
    parameters->answer = asker.answer;
    bytes_down_ += parameters->payload->bytes();
    if (keeps) held_[asker.answer.to] = parameters->payload;
    self_->tell(asker.by, *parameters);
  }
  askers_ = std::move(held_back);
}

}  // namespace thalweg::actors
