#include "tools/launch/backoff.hpp"

#include <algorithm>

namespace thalweg::launch {

std::chrono::seconds backoff(std::size_t restart) {
  constexpr std::chrono::seconds most(30);
  constexpr std::size_t doublings_max = 5;  // more would be above it anyway
  return std::min(most, std::chrono::seconds(1U << std::min(restart - 1, doublings_max)));
}

}  // namespace thalweg::launch
