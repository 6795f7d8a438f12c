#include "tests/sim/checkers/counted_once.hpp"

#include "runtime/time/random.hpp"
#include "tests/sim/trace.hpp"
#include "tests/support/integer_model.hpp"

#include <algorithm>
#include <cmath>

namespace thalweg::sim {

namespace {

using testing::IntegerModel;

std::string text_of_all(const std::vector<IndexRange>& ranges) {
  std::string text;
  for (const auto& range : ranges) text += (text.empty() ? "[" : ", [") + text_of(range) + "]";
  return text.empty() ? "nothing" : text;
}

/// What is in `all` and not in `part`. Requires: both are sorted and merged.
std::vector<IndexRange> missing(const std::vector<IndexRange>& all, const std::vector<IndexRange>& part) {
  std::vector<IndexRange> rest;
  for (const auto& range : all) {
    auto at = range.begin;
    for (const auto& there : part) {
      if (there.epoch != range.epoch || there.end() <= at || there.begin >= range.end()) continue;
      if (there.begin > at) rest.push_back({range.epoch, at, there.begin - at});
      at = there.end();
    }
    if (at < range.end()) rest.push_back({range.epoch, at, range.end() - at});
  }
  return rest;
}

}  // namespace

void CountedOnce::begins(const Job& job, const rules::LockstepSampling& sampling) {
  job_ = job;
  for (Round round; round.value < sampling.rounds(); round = round.next()) {
    for (const auto& range : sampling.share(round).ranges) {
      if (range.count > 0) add_range(planned_, range);
    }
  }
}

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

void CountedOnce::sent(const Message& message) {
  if (const auto* up = message.as<Contribution>()) check(message, *up);
  const auto* down = message.as<Parameters>();
  if (down != nullptr && message.from == "root") commit(*down);
}

void CountedOnce::delivered(const Message& message) {
  if (const auto* up = message.as<Contribution>()) check(message, *up);
}

void CountedOnce::check(const Message& message, const Contribution& contribution) {
  const auto what = "the contribution of " + std::string(message.from) + " to " + std::string(message.to) +
                    " in round " + std::to_string(contribution.round.value);
  if (faulty_.contains(message.stamp.id)) return;
  const auto find = [&](const std::string& text) {
    faulty_.insert(message.stamp.id);
    Checker::find(text);
  };
  if (total(contribution.spent) != contribution.samples) {
    return find(what + " says it holds " + std::to_string(contribution.samples) + " samples and spends " +
                text_of_all(contribution.spent));
  }
  if ((contribution.payload != nullptr) != (contribution.samples > 0)) {
    return find(what + (contribution.payload ? " holds no sample but has a payload"
                                             : " holds samples but has no payload"));
  }
  if (!contribution.payload) return;
  const auto expected = sums_of(contribution.spent);
  const auto got = contribution.payload->host();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (i < got.size() && static_cast<double>(got[i]) == static_cast<double>(expected[i])) continue;
    return find(what + " is not the sum of the gradients of " + text_of_all(contribution.spent) +
                ": number " + std::to_string(i) + " is " +
                (i < got.size() ? std::to_string(got[i]) : "missing") + ", not " +
                std::to_string(expected[i]));
  }
}

void CountedOnce::commit(const Parameters& parameters) {
  if (!begun_) {
    begun_ = true;
    committed_ = parameters.record.committed_samples;
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
  for (const auto& range : record.spent) {
    const auto again = add_range(ledger_, range);
    if (again > 0) {
      find(what + " counts [" + text_of(range) + "], of which " + std::to_string(again) +
           " were counted before");
    }
    if (!missing({range}, planned_).empty()) {
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
  const auto samples = total(parameters.record.spent);
  const auto after = parameters.payload->host();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto mean = static_cast<double>(sums[i]) / static_cast<double>(samples);
    const auto expected = static_cast<double>(parameters_[i]) - job_.config.train.lr * mean;
    if (std::abs(static_cast<double>(after[i]) - expected) <= 1e-6 * std::max(1.0, std::abs(expected)))
      continue;
    return find("version " + std::to_string(parameters.version().value) +
                " is not one step along the mean of " + text_of_all(parameters.record.spent) +
                ": parameter " + std::to_string(i) + " went from " + std::to_string(parameters_[i]) + " to " +
                std::to_string(after[i]) + ", not " + std::to_string(expected));
  }
}

void CountedOnce::ends(const Ending& ending) {
  if (!ending.outcome) return;
  const auto& summary = ending.outcome->summary;
  if (summary.committed != total(ledger_)) {
    find("the summary has " + std::to_string(summary.committed) + " samples committed, the commits hold " +
         std::to_string(total(ledger_)));
  }
  if (summary.repeated != 0)
    find("the summary has " + std::to_string(summary.repeated) + " samples repeated");
  if (summary.end != "done") return;
  const auto rest = missing(planned_, ledger_);
  if (!rest.empty()) find("the run is done, and no commit has counted " + text_of_all(rest));
}

}  // namespace thalweg::sim
