#include "actors/tallies.hpp"

#include <algorithm>
#include <utility>

namespace thalweg::actors {

std::optional<Tallies::Fold> Tallies::add(const Contribution& contribution, gpu::BufferPool& buffers) {
  auto found = std::find_if(tallies_.begin(), tallies_.end(),
                            [&](const Tally& each) { return each.base == contribution.base_version; });
  if (found == tallies_.end() && tallies_.size() == most) {
    std::sort(tallies_.begin(), tallies_.end(),
              [](const Tally& one, const Tally& other) { return one.base < other.base; });
    ++merges_;
    const Tally younger = std::move(tallies_[1]);
    tallies_.erase(tallies_.begin() + 1);
    auto& oldest = tallies_.front();
    add_up(oldest.total, younger.total);
    return Fold{oldest.sum, younger.sum, true, true};
  }
  const bool accumulate = found != tallies_.end();
  if (!accumulate) {
    auto sum = buffers.take();
    if (!sum) return std::nullopt;
    tallies_.push_back({contribution.base_version, std::move(sum), {}});
    found = tallies_.end() - 1;
  }
  add_up(found->total, contribution);
  return Fold{found->sum, contribution.payload, accumulate, false};
}

void Tallies::note(const Contribution& refused) {
  if (!refused_) refused_.emplace();
  add_up(*refused_, refused);
}

std::vector<Tallies::Tally> Tallies::swap() {
  auto out = std::exchange(tallies_, {});
  if (refused_) out.push_back({refused_->base_version, nullptr, *std::exchange(refused_, std::nullopt)});
  return out;
}

Version Tallies::oldest() const {
  Version oldest{};
  bool any = false;
  for (const auto& tally : tallies_) {
    oldest = any ? std::min(oldest, tally.base) : tally.base;
    any = true;
  }
  return oldest;
}

WeighedTallies weigh(const std::vector<Tallies::Tally>& tallies, rules::StalenessScaling scaling,
                     Version now) {
  WeighedTallies weighed;
  for (const auto& tally : tallies) {
    add_up(weighed.total, tally.total);
    if (!tally.sum) continue;
    weighed.sources.push_back(tally.sum);
    weighed.weights.push_back(rules::staleness_weight(scaling, rules::staleness(now, tally.base)));
  }
  return weighed;
}

}  // namespace thalweg::actors
