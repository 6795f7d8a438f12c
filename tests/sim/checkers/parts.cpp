#include "tests/sim/checkers/parts.hpp"

#include "tests/sim/ranges.hpp"

#include <algorithm>

namespace thalweg::sim {

namespace {

std::vector<IndexRange> merged(const std::vector<IndexRange>& ranges) {
  std::vector<IndexRange> all;
  for (const auto& range : ranges) add_range(all, range);
  return all;
}

}  // namespace

void Parts::add(const Contribution& contribution, std::vector<double> values) {
  auto spent = merged(contribution.spent);
  if (spent.empty()) return;
  std::erase_if(parts_, [&](const auto& entry) { return !disjoint(entry.second.spent, spent); });
  const std::pair at{spent.front().epoch, spent.front().begin};
  parts_[at] = {std::move(spent), contribution.base_version, contribution.batch, std::move(values)};
}

std::vector<const Parts::Part*> Parts::in(const std::vector<IndexRange>& ranges) const {
  const auto spent = merged(ranges);
  std::vector<const Part*> found;
  for (const auto& range : spent) {
    const auto end = parts_.lower_bound({range.epoch, range.end()});
    for (auto at = parts_.lower_bound({range.epoch, range.begin}); at != end; ++at) {
      if (missing(at->second.spent, spent).empty()) found.push_back(&at->second);
    }
  }
  return found;
}

void Parts::forget(const std::vector<IndexRange>& ranges) {
  const auto spent = merged(ranges);
  std::erase_if(parts_, [&](const auto& entry) { return !disjoint(entry.second.spent, spent); });
}

}  // namespace thalweg::sim
