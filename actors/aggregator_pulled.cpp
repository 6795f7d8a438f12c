#include "actors/aggregator.hpp"
#include "actors/fold.hpp"

#include <algorithm>
#include <utility>

/// How a leader folds what its workers compute until it is pulled (InHAD): into a tally for each version that
/// gradients were taken at. Workers go on meanwhile.
namespace thalweg::actors {

void AggregatorState::take_pulled(Member& member, Contribution contribution, const Contribution& arrived) {
  if (member.id.kind == MemberId::Kind::worker) {
    count_bytes(arrived);
    member.serial = std::max(member.serial, contribution.serial);
    arrivals_.push_back(std::move(contribution));
    return proceed();
  }
  // A leader below, which was pulled in turn.
  if (!member.asked || member.arrived || !pull_ || contribution.round != pull_->round)
    return drop(contribution);
  count_bytes(arrived);
  member.progress.pulled += contribution.iterations;
  member.has(std::move(contribution));
  proceed();
}

void AggregatorState::proceed_pulled() {
  if (!fold_into_tallies()) return;
  if (!pull_) return wait_for_members({"waits for contributions, and to be pulled"});
  if (!closing_) {
    closing_ = true;
    round_ = pull_->round;
    pulled_ = tallies_.swap();
    for (auto& member : members_) {
      member.asked = member.id.kind == MemberId::Kind::leader && member.progress.unpulled() > 0;
      if (member.asked) self_->tell(member.handle, *pull_);
    }
  }
  const bool waits = std::any_of(members_.begin(), members_.end(),
                                 [](const Member& each) { return each.asked && !each.arrived; });
  if (waits)
    return wait_for_members({"waits for the answers of those below to the pull of round {}", {round_.value}});
  self_->goes_on();
  answer_pull();
}

/// True: nothing that arrived is left to fold now.
bool AggregatorState::fold_into_tallies() {
  while (!arrivals_.empty()) {
    const auto& first = arrivals_.front();
    auto fold_one = std::optional<Tallies::Fold>();
    if (first.samples == 0) {
      tallies_.note(first);
    } else {
      fold_one = tallies_.add(first, *options_.sums);
      if (!fold_one) {
        retry_later({"waits for its parent to let go of a sum before it folds an iteration on version {}",
                     {first.base_version.value}});
        return false;
      }
      if (fold_one->merged)
        self_->note({"makes one of its two oldest tallies: {} times so far", {tallies_.merges()}});
    }
    const bool merged = fold_one && fold_one->merged;
    const auto iterations = first.iterations;
    const auto count_in = [this, merged, iterations] {
      if (merged) return;
      arrivals_.pop_front();
      iterations_ += iterations;
      tell_progress();
    };
    if (!fold_one) {
      count_in();
      continue;
    }
    const auto bytes = fold_one->sum->bytes();
    const bool done = run(
        bytes,
        [each = std::move(*fold_one)](TaskPool* pool) {
          const Payload source[] = {each.source};
          fold(*each.sum, source, {}, each.accumulate, pool);
        },
        count_in);
    if (!done) return false;
  }
  return true;
}

/// One vector, whatever the number of versions: each tally weighed by its age. The version cannot change
/// while a pull is under way, so that this equals weighing at the root.
void AggregatorState::answer_pull() {
  auto weighed = weigh(pulled_, options_.method.merge.scaling, pull_->version);
  for (auto& member : members_) {
    if (!member.waiting) continue;
    add_up(weighed.total, *member.waiting);
    if (!member.waiting->payload) continue;
    weighed.sources.push_back(member.waiting->payload);
    weighed.weights.push_back(1);
  }
  auto& sources = weighed.sources;
  const bool as_it_is = sources.empty() || (sources.size() == 1 && weighed.weights.front() == 1);
  if (as_it_is) {
    if (!sources.empty()) only_ = std::move(sources.front());
  } else {
    sum_ = options_.sums->take();
    if (!sum_)
      return retry_later({"waits for a free sum before it answers the pull of round {}", {round_.value}});
  }
  const auto answer = [this, total = std::move(weighed.total)] {
    total_ = total;
    pulled_.clear();
    pull_.reset();
    for (auto& member : members_) member.waiting.reset();
    contribute();
  };
  if (as_it_is) {
    answer();
    return proceed();
  }
  const auto bytes = sum_->bytes();
  const bool done = run(
      bytes,
      [sum = sum_, from = std::move(sources), weights = std::move(weighed.weights)](TaskPool* pool) {
        fold(*sum, from, weights, false, pool);
      },
      answer);
  if (done) proceed();
}

/// Cumulative, so that only the newest counts.
void AggregatorState::tell_progress() {
  auto iterations = iterations_;
  for (const auto& member : members_) iterations += member.progress.iterations;
  self_->tell(options_.parent, Progress{options_.id, iterations, tallies_.oldest(), false});
}

}  // namespace thalweg::actors
