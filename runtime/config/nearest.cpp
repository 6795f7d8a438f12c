#include "runtime/config/nearest.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace thalweg {

std::size_t name_distance(std::string_view one, std::string_view other) {
  if (one == other) return 0;
  const auto& [shorter, longer] = std::minmax(one, other, [](auto a, auto b) { return a.size() < b.size(); });
  if (shorter.size() >= 3 && longer.starts_with(shorter)) return 1;

  // Three rows of the usual table suffice: this one, the one before, and for swaps the one before that.
  std::array<std::vector<std::size_t>, 3> rows;
  for (auto& row : rows) row.resize(other.size() + 1);
  for (std::size_t j = 0; j <= other.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= one.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& before = rows[(i - 1) % 3];
    const auto& before_that = rows[(i + 1) % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const bool same = one[i - 1] == other[j - 1];
      row[j] = std::min({before[j] + 1, row[j - 1] + 1, before[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1]) {
        row[j] = std::min(row[j], before_that[j - 2] + 1);
      }
    }
  }
  return rows[one.size() % 3][other.size()];
}

std::size_t tolerated_distance(std::string_view name) { return std::max<std::size_t>(1, name.size() / 3); }

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  std::size_t nearest = tolerated_distance(name) + 1;
  std::string found;
  for (const auto& candidate : known) {
    const std::size_t distance = name_distance(name, candidate);
    if (distance < nearest) {
      nearest = distance;
      found = candidate;
    }
  }
  return found;
}

}  // namespace thalweg
