#include "runtime/values/index_range.hpp"

#include <algorithm>

namespace thalweg {

std::uint64_t add_range(std::vector<IndexRange>& ranges, const IndexRange& range) {
  if (range.count == 0) return 0;

  // The first range that overlaps `range` or touches it from the left, or else the place where it goes.
  const auto first = std::lower_bound(
      ranges.begin(), ranges.end(), range, [](const IndexRange& one, const IndexRange& added) {
        return one.epoch < added.epoch || (one.epoch == added.epoch && one.end() < added.begin);
      });
  std::uint64_t begin = range.begin;
  std::uint64_t end = range.end();
  std::uint64_t twice = 0;
  auto last = first;
  for (; last != ranges.end() && last->epoch == range.epoch && last->begin <= range.end(); ++last) {
    // A neighbour that only touches shares no position, which makes this difference zero.
    twice += std::min(last->end(), range.end()) - std::max(last->begin, range.begin);
    begin = std::min(begin, last->begin);
    end = std::max(end, last->end());
  }

  const IndexRange merged{range.epoch, begin, end - begin};
  if (first == last) {
    ranges.insert(first, merged);
  } else {
    *first = merged;
    ranges.erase(first + 1, last);
  }
  return twice;
}

void append_range(std::vector<IndexRange>& ranges, const IndexRange& range) {
  const bool goes_on =
      !ranges.empty() && ranges.back().epoch == range.epoch && ranges.back().end() == range.begin;
  if (goes_on) {
    ranges.back().count += range.count;
  } else {
    ranges.push_back(range);
  }
}

std::uint64_t total(const std::vector<IndexRange>& ranges) {
  std::uint64_t count = 0;
  for (const auto& range : ranges) count += range.count;
  return count;
}

}  // namespace thalweg
