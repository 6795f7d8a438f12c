#include "tests/sim/checkers/counted_once.hpp"

#include "runtime/time/random.hpp"
#include "tests/sim/ranges.hpp"
#include "tests/support/integer_model.hpp"

#include <algorithm>
#include <cmath>

namespace thalweg::sim {

using testing::IntegerModel;

void CountedOnce::begins(const Job& job, const rules::LockstepSampling& sampling,
                         const actors::Snapshot* start) {
  job_ = job;
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
  if (job_.bad_sample && message.from.starts_with('w')) return true;
  return std::any_of(job_.troubles.begin(), job_.troubles.end(), [&](const Trouble& trouble) {
    return message.from == worker_id(trouble.worker).text();
  });
}

void CountedOnce::found(const Message& message, const std::string& text) {
  faulty_.insert(message.stamp.id);
  find(text);
}

void CountedOnce::sent(const Message& message) {
  if (const auto* up = message.as<Contribution>()) check(message, *up);
  if (const auto* checkpoint = message.as<actors::Checkpoint>()) {
    check_snapshot("the checkpoint", *checkpoint->snapshot);
  }
  const auto* down = message.as<Parameters>();
  if (down != nullptr && message.from == "root") commit(*down);
}

void CountedOnce::delivered(const Message& message) {
  const auto* up = message.as<Contribution>();
  if (up != nullptr && !faulty_.contains(message.stamp.id)) check(message, *up);
}

void CountedOnce::check(const Message& message, const Contribution& contribution) {
  const auto what = "the contribution of " + std::string(message.from) + " to " + std::string(message.to) +
                    " in round " + std::to_string(contribution.round.value);
  if (total(contribution.spent) != contribution.samples) {
    return found(message, what + " says it holds " + std::to_string(contribution.samples) +
                              " samples and spends " + text_of(contribution.spent));
  }
  if ((contribution.payload != nullptr) != (contribution.samples > 0)) {
    return found(message, what + (contribution.payload ? " holds no sample but has a payload"
                                                       : " holds samples but has no payload"));
  }
  if (contribution.payload && !may_be_bad(message)) check_payload(what, contribution, message);
}

void CountedOnce::check_payload(const std::string& what, const Contribution& contribution,
                                const Message& message) {
  const auto expected = sums_of(contribution.spent);
  const auto got = contribution.payload->host();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (i < got.size() && static_cast<double>(got[i]) == static_cast<double>(expected[i])) continue;
    return found(message, what + " is not the sum of the gradients of " + text_of(contribution.spent) +
                              ": number " + std::to_string(i) + " is " +
                              (i < got.size() ? std::to_string(got[i]) : "missing") + ", not " +
                              std::to_string(expected[i]));
  }
}

// -- what a commit holds
// -------------------------------------------------------------------------------------------

void CountedOnce::commit(const Parameters& parameters) {
  if (!begun_) {
    begun_ = true;
  } else if (parameters.version() > version_) {
    count(parameters.record);
    check_move(parameters);
  } else {
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
  const auto sums = sums_of(parameters.record.spent);
  const auto samples = static_cast<double>(total(parameters.record.spent));
  const auto after = parameters.payload->host();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto expected =
        static_cast<double>(parameters_[i]) - job_.config.train.lr * static_cast<double>(sums[i]) / samples;
    const auto off = std::abs(static_cast<double>(after[i]) - expected);
    if (off <= 1e-6 * std::max(1.0, std::abs(expected))) continue;
    return find("version " + std::to_string(parameters.version().value) +
                " is not one step along the mean of " + text_of(parameters.record.spent) + ": parameter " +
                std::to_string(i) + " went from " + std::to_string(parameters_[i]) + " to " +
                std::to_string(after[i]) + ", not " + std::to_string(expected));
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
  if (config.train.steps != 0 && job_.troubled()) {
    if (version_.value == config.train.steps) return;
    return find("the run is done with " + std::to_string(version_.value) + " commits of " +
                std::to_string(config.train.steps));
  }
  auto settled = ledger_;
  for (const auto& range : snapshot.quarantined) add_range(settled, range);
  const auto rest = missing(planned_, settled);
  if (!rest.empty()) find("the run is done, and nothing has counted " + text_of(rest));
}

}  // namespace thalweg::sim
