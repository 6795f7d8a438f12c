#include "tests/sim/checkers/counted_once.hpp"

#include "runtime/check.hpp"
#include "runtime/time/random.hpp"
#include "tests/sim/ranges.hpp"
#include "tests/support/integer_model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <utility>

namespace thalweg::sim {

namespace {

std::uint64_t hash_of(std::span<const float> values) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a over whole floats
  for (const float value : values) hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * 1099511628211U;
  return hash;
}

}  // namespace

using testing::IntegerModel;

void CountedOnce::begins(const Job& job, const rules::LockstepSampling& sampling,
                         const actors::Snapshot* start) {
  job_ = job;
  auto method = rules::find_method(job.config);
  THALWEG_CHECK(method.ok(), method ? "" : method.error().text);
  method_ = std::move(*method);
  by_samples_ = !method_.planned() || method_.local.steps > 1;
  budget_ = sampling.samples_before(sampling.rounds());
  per_epoch_ = sampling.samples_used_per_epoch();
  for (Round round; round.value < sampling.rounds(); round = round.next()) {
    for (const auto& range : sampling.share(round).ranges) {
      if (range.count > 0) add_range(planned_, range);
    }
  }
  if (start == nullptr) return;
  ledger_ = start->ledger;
  committed_ = start->committed_samples;
  if (total(ledger_) != committed_)
    find("the snapshot at the start holds another number of samples than it says");
}

// -- what a contribution holds
// -------------------------------------------------------------------------------------

const std::vector<std::uint32_t>& CountedOnce::order_of(std::uint64_t epoch) {
  auto& order = orders_[epoch];
  if (order.empty()) order = permutation(job_.config.run.seed, epoch, job_.samples);
  return order;
}

CountedOnce::Sums CountedOnce::sums_of(const std::vector<IndexRange>& ranges) {
  // The model's two slots: `floats` numbers from 0, three from the next multiple of 16.
  const auto second = (job_.floats + 15) / 16 * 16;
  Sums sums(second + 16);
  for (const auto& range : ranges) {
    const auto& order = order_of(range.epoch);
    for (auto at = range.begin; at < std::min<std::uint64_t>(range.end(), order.size()); ++at) {
      for (std::size_t i = 0; i < job_.floats; ++i) sums[i] += IntegerModel::gradient_of(order[at], i);
      for (std::size_t i = 0; i < 3; ++i) sums[second + i] += IntegerModel::gradient_of(order[at], i);
    }
  }
  return sums;
}

/// A worker in trouble may send anything; what a leader makes of it may not show it.
bool CountedOnce::may_be_bad(const Message& message) const {
  if (!message.from.starts_with('w')) return false;
  if (job_.bad_sample) return true;
  return std::any_of(job_.troubles.begin(), job_.troubles.end(), [&](const Trouble& trouble) {
    return message.from == worker_id(trouble.worker).text();
  });
}

void CountedOnce::sent(const Message& message) {
  if (const auto* batch = message.as<Batch>()) {
    if (batch->range.count > 0) batches_[std::string(message.to)].push_back(batch->range);
  }
  if (const auto* up = message.as<Contribution>()) check(message, *up);
  if (const auto* checkpoint = message.as<actors::Checkpoint>()) {
    check_snapshot("the checkpoint", *checkpoint->snapshot);
  }
  const auto* down = message.as<Parameters>();
  if (down != nullptr && message.from == "root") commit(*down);
  // Where everybody is answered at once, nobody may be told of a commit at first.
  const auto* committed = message.as<actors::Committed>();
  if (committed == nullptr || committed->record.version <= version_) return;
  count(committed->record);
  parts_.forget(committed->record.spent);
  version_ = committed->record.version;
  parameters_.clear();
}

void CountedOnce::delivered(const Message& message) {
  const auto* up = message.as<Contribution>();
  if (up == nullptr || !up->payload) return;
  const auto before = sent_.find(message.stamp.id);
  if (before == sent_.end() || before->second == hash_of(up->payload->host())) return;
  find("the contribution of " + std::string(message.from) + " to " + std::string(message.to) + " in round " +
       std::to_string(up->round.value) + " is not what it was when it left");
}

void CountedOnce::decided(std::string_view /*who*/, const rules::Reason& reason) {
  if (std::string_view(reason.sentence).starts_with("makes one of its two oldest tallies")) {
    tallies_merged_ = true;
  }
}

void CountedOnce::check(const Message& message, const Contribution& contribution) {
  const auto what = "the contribution of " + std::string(message.from) + " to " + std::string(message.to) +
                    " in round " + std::to_string(contribution.round.value);
  if (total(contribution.spent) != contribution.samples) {
    return find(what + " says it holds " + std::to_string(contribution.samples) + " samples and spends " +
                text_of(contribution.spent));
  }
  if ((contribution.payload != nullptr) != (contribution.samples > 0)) {
    return find(what + (contribution.payload ? " holds no sample but has a payload"
                                             : " holds samples but has no payload"));
  }
  if (!contribution.payload) return;
  const auto payload = contribution.payload->host();
  sent_[message.stamp.id] = hash_of(payload);
  check_payload(what, contribution, message);
  if (message.from.starts_with('w')) {
    parts_.add(contribution, {payload.begin(), payload.end()});
    auto& batches = batches_[std::string(message.from)];
    std::erase_if(batches,
                  [&](const IndexRange& batch) { return missing({batch}, contribution.spent).empty(); });
  }
}

void CountedOnce::check_payload(const std::string& what, const Contribution& contribution,
                                const Message& message) {
  if (may_be_bad(message)) return;
  const bool worker = message.from.starts_with('w');
  const bool pulled = method_.trigger(0).kind == rules::TriggerRule::Kind::progress;
  const bool scaled = pulled && method_.merge.scaling != rules::StalenessScaling::none;
  const bool exact = method_.sends == rules::Sends::gradients && (worker || !scaled);
  const auto expected =
      worker ? worth_of(message.from, contribution) : made_of(contribution.spent, scaled, version_);
  if (!expected) return;
  const auto got = contribution.payload->host();
  for (std::size_t i = 0; i < expected->size(); ++i) {
    const auto want = (*expected)[i];
    const auto samples = static_cast<double>(contribution.samples);
    const auto off =
        exact ? 0 : 1e-5 * samples * (1 + (i < parameters_.size() ? std::abs(parameters_[i]) : 0));
    if (i < got.size() && std::abs(static_cast<double>(got[i]) - want) <= off) continue;
    return find(what + " is not the sum of the " + (exact ? "gradients" : "parts") + " of " +
                text_of(contribution.spent) + ": number " + std::to_string(i) + " is " +
                (i < got.size() ? std::to_string(got[i]) : "missing") + ", not " + std::to_string(want));
  }
}

std::optional<CountedOnce::Sums> CountedOnce::worth_of(std::string_view worker,
                                                       const Contribution& contribution) {
  if (method_.sends == rules::Sends::gradients) return sums_of(contribution.spent);
  if (method_.inner == "adamw" || method_.adopt.kind != rules::AdoptRule::Kind::replace) return std::nullopt;
  // n·(w - x), where x took a step along the mean of each batch.
  Sums worth;
  for (const auto& batch : batches_[std::string(worker)]) {
    if (!missing({batch}, contribution.spent).empty()) continue;
    const auto sums = sums_of({batch});
    worth.resize(sums.size());
    const auto by =
        job_.config.train.lr * static_cast<double>(contribution.samples) / static_cast<double>(batch.count);
    for (std::size_t i = 0; i < sums.size(); ++i) worth[i] += by * sums[i];
  }
  return worth;
}

std::optional<CountedOnce::Sums> CountedOnce::made_of(const std::vector<IndexRange>& spent, bool scaled,
                                                      Version now) {
  if (method_.sends == rules::Sends::gradients && !scaled) return sums_of(spent);
  if (scaled && tallies_merged_) return std::nullopt;
  Sums sums = sums_of({});
  std::uint64_t samples = 0;
  for (const auto* part : parts_.in(spent)) {
    const auto scaling = scaled ? method_.merge.scaling : rules::StalenessScaling::none;
    const auto weight =
        static_cast<double>(rules::staleness_weight(scaling, rules::staleness(now, part->base)));
    for (std::size_t i = 0; i < sums.size() && i < part->values.size(); ++i) {
      sums[i] += weight * part->values[i];
    }
    samples += total(part->spent);
  }
  if (samples != total(spent)) {
    find(text_of(spent) + " is not made of whole contributions of workers: those hold " +
         std::to_string(samples) + " of it");
    return std::nullopt;
  }
  return sums;
}

// -- what a commit holds
// -------------------------------------------------------------------------------------------

void CountedOnce::commit(const Parameters& parameters) {
  if (!begun_) {
    begun_ = true;
  } else if (parameters.version() > version_) {
    count(parameters.record);
    if (!parameters_.empty()) check_move(parameters);
    parts_.forget(parameters.record.spent);
  } else if (!parameters_.empty()) {
    return;
  }
  version_ = parameters.version();
  const auto values = parameters.payload->host();
  parameters_.assign(values.begin(), values.end());
}

void CountedOnce::count(const CommitRecord& record) {
  const auto what = "version " + std::to_string(record.version.value);
  // Where somebody is in trouble, as many commits take fewer samples each, or others.
  const bool as_planned = !job_.troubled() || job_.config.train.steps == 0;
  for (const auto& range : record.spent) {
    const auto again = add_range(ledger_, range);
    if (again > 0) {
      find(what + " counts [" + text_of(range) + "], of which " + std::to_string(again) +
           " were counted before");
    }
    if (as_planned ? !missing({range}, planned_).empty() : range.end() > per_epoch_) {
      find(what + " counts [" + text_of(range) + "], which is not in the run's data");
    }
  }
  committed_ += total(record.spent);
  if (record.committed_samples != committed_) {
    find(what + " says that " + std::to_string(record.committed_samples) +
         " samples are committed, its ranges add up to " + std::to_string(committed_));
  }
}

void CountedOnce::check_move(const Parameters& parameters) {
  using Kind = rules::MergeRule::Kind;
  const auto& spent = parameters.record.spent;
  const bool moves = method_.sends == rules::Sends::moves;
  if (moves && method_.outer != "sgd") return;  // it has a state of its own
  // Where leaders fold what has several ages, the root scales by the oldest.
  const bool scaled = method_.merge.scaling != rules::StalenessScaling::none;
  const auto leaders = method_.trigger(1).kind;
  const bool folded = job_.config.topology.tree.depth() > 1 && leaders != rules::TriggerRule::Kind::forward &&
                      leaders != rules::TriggerRule::Kind::pulled;
  if (scaled && folded) return;
  const auto sums = made_of(spent, scaled, version_);
  if (!sums) return;

  double by = (moves ? method_.outer_lr : job_.config.train.lr) / static_cast<double>(total(spent));
  if (method_.merge.kind == Kind::each) {
    by = job_.config.train.lr * static_cast<double>(job_.config.topology.workers) /
         static_cast<double>(job_.config.global_batch());
  } else if (method_.merge.kind == Kind::steps) {
    std::uint64_t batch = 0;
    for (const auto* part : parts_.in(spent)) batch += part->batch;
    by = job_.config.train.lr / static_cast<double>(batch);
  }
  // What a delay is compensated with is at most the gradient itself.
  const bool compensated = method_.merge.compensation != rules::MergeRule::Compensation::none;
  const auto after = parameters.payload->host();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto step = by * (*sums)[i];
    const auto before = static_cast<double>(parameters_[i]);
    const auto expected = before - step;
    const auto off = std::abs(static_cast<double>(after[i]) - expected);
    const auto rounding = (moves ? 1e-5 : 2e-6) * std::max({1.0, std::abs(before), std::abs(expected)});
    if (off <= rounding + (compensated ? std::abs(step) : 0)) continue;
    return find("version " + std::to_string(parameters.version().value) +
                " is not one step along the mean of " + text_of(spent) + ": parameter " + std::to_string(i) +
                " went from " + std::to_string(parameters_[i]) + " to " + std::to_string(after[i]) +
                ", not " + std::to_string(expected));
  }
}

void CountedOnce::check_snapshot(const std::string& what, const actors::Snapshot& snapshot) {
  if (snapshot.version != version_) {
    return find(what + " is of version " + std::to_string(snapshot.version.value) +
                ", the newest is version " + std::to_string(version_.value));
  }
  if (snapshot.ledger != ledger_ || snapshot.committed_samples != committed_) {
    find(what + " has " + text_of(snapshot.ledger) + " in its ledger, the commits hold " + text_of(ledger_));
  }
  if (!disjoint(snapshot.ledger, snapshot.quarantined)) {
    find(what + " has samples that are both committed and quarantined: " + text_of(snapshot.quarantined));
  }
  if (snapshot.repeated_samples != 0) {
    find(what + " has " + std::to_string(snapshot.repeated_samples) + " samples that are counted twice");
  }
}

// -- what the run holds
// --------------------------------------------------------------------------------------------

void CountedOnce::ends(const Ending& ending) {
  if (!ending.outcome) return;
  const auto& summary = ending.outcome->summary;
  if (summary.committed != total(ledger_)) {
    find("the summary has " + std::to_string(summary.committed) + " samples committed, the commits hold " +
         std::to_string(total(ledger_)));
  }
  if (summary.repeated != 0)
    find("the summary has " + std::to_string(summary.repeated) + " samples repeated");
  if (!ending.outcome->snapshot) return;
  const auto& snapshot = *ending.outcome->snapshot;
  check_snapshot("the snapshot at the end", snapshot);
  if (summary.quarantined != total(snapshot.quarantined)) {
    find("the summary has " + std::to_string(summary.quarantined) + " samples quarantined, the snapshot " +
         text_of(snapshot.quarantined));
  }
  if (summary.end == "done" && summary.ended_by == "data") check_whole(snapshot);
}

void CountedOnce::check_whole(const actors::Snapshot& snapshot) {
  const auto& config = job_.config;
  if (config.stop.max_samples > 0 && total(ledger_) >= config.stop.max_samples) {
    if (total(ledger_) > config.stop.max_samples) {
      find("the run has committed " + std::to_string(total(ledger_)) + " samples, stop.max_samples is " +
           std::to_string(config.stop.max_samples));
    }
    return;
  }
  if (config.train.steps != 0 && job_.troubled() && by_samples_) {
    if (total(ledger_) == budget_) return;
    return find("the run is done with " + std::to_string(total(ledger_)) + " samples of " +
                std::to_string(budget_));
  }
  if (config.train.steps != 0 && job_.troubled()) {
    if (version_.value == config.train.steps) return;
    if (!job_.newcomers.empty() && total(ledger_) == budget_) return;  // some rounds took more than was planned
    return find("the run is done with " + std::to_string(version_.value) + " commits of " +
                std::to_string(config.train.steps));
  }
  auto settled = ledger_;
  for (const auto& range : snapshot.quarantined) add_range(settled, range);
  const auto rest = missing(planned_, settled);
  if (!rest.empty()) find("the run is done, and nothing has counted " + text_of(rest));
}

}  // namespace thalweg::sim
