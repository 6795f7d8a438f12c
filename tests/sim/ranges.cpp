#include "tests/sim/ranges.hpp"

namespace thalweg::sim {

std::string text_of(const IndexRange& range) {
  const auto epoch = "epoch " + std::to_string(range.epoch) + ", ";
  if (range.count == 0) return epoch + "none";
  return epoch + std::to_string(range.begin) + ".." + std::to_string(range.end() - 1);
}

std::string text_of(const std::vector<IndexRange>& ranges) {
  std::string text;
  for (const auto& range : ranges) text += (text.empty() ? "[" : ", [") + text_of(range) + "]";
  return text.empty() ? "nothing" : text;
}

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

bool disjoint(const std::vector<IndexRange>& some, const std::vector<IndexRange>& others) {
  return total(missing(some, others)) == total(some);
}

}  // namespace thalweg::sim
