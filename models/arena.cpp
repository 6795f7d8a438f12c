#include "models/arena.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace thalweg::models {
namespace {

constexpr std::size_t alignment_floats = 16;

std::size_t aligned(std::size_t floats) {
  return (floats + alignment_floats - 1) / alignment_floats * alignment_floats;
}

bool meet(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

}  // namespace

ArenaPlan plan_arena(std::span<const Lifetime> lifetimes) {
  ArenaPlan plan;
  plan.offsets.resize(lifetimes.size());
  std::vector<std::size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return lifetimes[a].floats > lifetimes[b].floats; });

  std::vector<std::size_t> placed;  // by rising offset
  for (const std::size_t index : order) {
    const std::size_t size = aligned(lifetimes[index].floats);
    std::size_t offset = 0;
    for (const std::size_t other : placed) {
      if (!meet(lifetimes[index], lifetimes[other])) continue;
      if (offset + size <= plan.offsets[other]) break;
      offset = std::max(offset, plan.offsets[other] + aligned(lifetimes[other].floats));
    }
    plan.offsets[index] = offset;
    plan.floats = std::max(plan.floats, offset + size);
    const auto after = std::find_if(placed.begin(), placed.end(),
                                    [&](std::size_t other) { return plan.offsets[other] > offset; });
    placed.insert(after, index);
  }
  return plan;
}

}  // namespace thalweg::models
