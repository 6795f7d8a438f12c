#include "models/stretches.hpp"

#include <algorithm>
#include <atomic>

namespace thalweg::models {
namespace {

/// From this size on a step is worth the pool's wake-up; and the piece a thread takes at a time.
constexpr std::size_t split_above = (1U << 20) / sizeof(float);
constexpr std::size_t split_grain = 1U << 14;
/// Floats that are stepped before they are looked at: four blocks of this size fit into a core's first cache.
constexpr std::size_t block = 2048;

}  // namespace

std::vector<Stretch> stretches_of(std::span<const Slot> slots) {
  std::vector<Stretch> stretches;
  for (const Slot& slot : slots) {
    if (stretches.empty() || stretches.back().decay != slot.decay) {
      if (!stretches.empty()) stretches.back().end = slot.offset;
      stretches.push_back({slot.offset, 0, slot.decay});
    }
  }
  if (!stretches.empty()) {
    stretches.front().begin = 0;
    stretches.back().end = flat_size(slots);
  }
  return stretches;
}

bool in_blocks(std::span<const Stretch> stretches, TaskPool* pool,
               const std::function<bool(std::size_t from, std::size_t count, bool decay)>& step) {
  std::atomic<bool> good = true;
  const auto piece = [&](std::size_t begin, std::size_t end) {
    for (const Stretch& stretch : stretches) {
      const std::size_t to = std::min(end, stretch.end);
      for (std::size_t from = std::max(begin, stretch.begin); from < to; from += block) {
        const std::size_t count = std::min(block, to - from);
        if (!step(from, count, stretch.decay)) good = false;
      }
    }
  };
  const std::size_t size = stretches.empty() ? 0 : stretches.back().end;
  if (pool != nullptr && size > split_above) {
    pool->parallel_for(size, split_grain, piece);
  } else {
    piece(0, size);
  }
  return good;
}

}  // namespace thalweg::models
