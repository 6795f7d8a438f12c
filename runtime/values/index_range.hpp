#pragma once

#include <cstdint>
#include <vector>

/// Positions in an epoch's permutation: what leases, contributions and the data ledger count in.
namespace thalweg {

/// `count` consecutive positions of the permutation of epoch `epoch`, beginning with `begin`.
struct IndexRange {
  std::uint64_t epoch = 0;
  std::uint64_t begin = 0;
  std::uint64_t count = 0;

  [[nodiscard]] std::uint64_t end() const { return begin + count; }
  friend bool operator==(const IndexRange&, const IndexRange&) = default;
};

/// Adds `range` to the sorted, merged `ranges`.
/// Returns how many of its positions were there already: 0 when each is counted once.
std::uint64_t add_range(std::vector<IndexRange>& ranges, const IndexRange& range);

/// Adds `range` behind `ranges`: to the last of them, if it goes on there. Keeps the ranges of a contribution
/// few, since neighbouring members take neighbouring positions.
void append_range(std::vector<IndexRange>& ranges, const IndexRange& range);

/// Positions in `ranges`.
std::uint64_t total(const std::vector<IndexRange>& ranges);

}  // namespace thalweg
