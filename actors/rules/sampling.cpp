#include "actors/rules/sampling.hpp"

#include "runtime/check.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace thalweg::rules {

std::vector<std::uint64_t> largest_remainder(std::uint64_t count, const std::vector<std::uint64_t>& weights) {
  const std::uint64_t total = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  THALWEG_CHECK(total > 0, "somebody must take a share");
  std::vector<std::uint64_t> shares(weights.size());
  std::vector<std::pair<std::uint64_t, std::size_t>> remainders;
  std::uint64_t given = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    shares[i] = count * weights[i] / total;
    given += shares[i];
    remainders.emplace_back(count * weights[i] % total, i);
  }
  std::stable_sort(remainders.begin(), remainders.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; given < count; ++i, ++given) shares[remainders[i].second] += 1;
  return shares;
}

Result<LockstepSampling> LockstepSampling::make(SamplingOptions options) {
  const LockstepSampling sampling(std::move(options));
  if (sampling.global_batch_ > sampling.options_.samples_per_epoch) {
    return Error{ErrorCode::invalid, "train.batch: the batches of all workers add up to " +
                                         std::to_string(sampling.global_batch_) + " samples, more than the " +
                                         std::to_string(sampling.options_.samples_per_epoch) +
                                         " of the training set: choose a smaller batch or fewer workers"};
  }
  return sampling;
}

LockstepSampling::LockstepSampling(SamplingOptions options) : options_(std::move(options)) {
  global_batch_ = std::accumulate(options_.batches.begin(), options_.batches.end(), std::uint64_t{0});
  const auto samples = options_.samples_per_epoch;
  rounds_per_epoch_ =
      options_.drop_last ? samples / global_batch_ : (samples + global_batch_ - 1) / global_batch_;
  rounds_ = options_.rounds != 0 ? options_.rounds : options_.epochs * rounds_per_epoch_;
}

std::uint64_t LockstepSampling::samples_before(std::uint64_t rounds) const {
  const auto epochs = rounds / rounds_per_epoch_;
  const auto per_epoch = std::min(rounds_per_epoch_ * global_batch_, options_.samples_per_epoch);
  return epochs * per_epoch + (rounds % rounds_per_epoch_) * global_batch_;
}

RoundShare LockstepSampling::share(Round round) const {
  const auto epoch = round.value / rounds_per_epoch_;
  auto at = round.value % rounds_per_epoch_ * global_batch_;
  const auto left = options_.samples_per_epoch - at;
  RoundShare share{round, {}};
  const auto counts = left >= global_batch_ ? options_.batches : largest_remainder(left, options_.batches);
  for (const auto count : counts) {
    share.ranges.push_back({epoch, at, count});
    at += count;
  }
  return share;
}

}  // namespace thalweg::rules
