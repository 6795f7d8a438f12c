#pragma once

#include "runtime/values/index_range.hpp"

#include <string>
#include <vector>

/// What checkers ask of ranges of positions.
namespace thalweg::sim {

/// A range in words: "epoch 0, 4..7".
std::string text_of(const IndexRange& range);
std::string text_of(const std::vector<IndexRange>& ranges);

/// What is in `all` and not in `part`. Requires: `part` is sorted and merged.
std::vector<IndexRange> missing(const std::vector<IndexRange>& all, const std::vector<IndexRange>& part);

/// Whether the two have no position in common. Requires: both are sorted and merged.
bool disjoint(const std::vector<IndexRange>& some, const std::vector<IndexRange>& others);

}  // namespace thalweg::sim
