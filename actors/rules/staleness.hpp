#pragma once

#include "runtime/values/ids.hpp"

#include <cstdint>

/// How much a gradient counts by its age: `staleness_scaling`.
/// α(0) = 1, α(τ) = 1/τ for τ > 0. (Zhang et al., "Staleness-aware async-SGD", 2016; InHAD.)
namespace thalweg::rules {

enum class StalenessScaling { none, inverse };

/// τ: versions between the parameters that a gradient was taken at and those that it is added to.
inline std::uint64_t staleness(Version now, Version base) { return now > base ? now.value - base.value : 0; }

inline float staleness_weight(StalenessScaling scaling, std::uint64_t staleness) {
  if (scaling == StalenessScaling::none || staleness == 0) return 1;
  return 1.0F / static_cast<float>(staleness);
}

}  // namespace thalweg::rules
