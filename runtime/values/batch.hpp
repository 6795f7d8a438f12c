#pragma once

#include "runtime/values/ids.hpp"
#include "runtime/values/index_range.hpp"

#include <thalweg/model.hpp>

#include <cstdint>
#include <memory>
#include <vector>

/// First hop of a gradient, feeder to worker: samples, cut and normalised, ready to compute on.
namespace thalweg {

/// The samples themselves. Filled by the feeder's tasks, then immutable.
struct BatchData {
  std::vector<float> features;  ///< `labels.size()` samples, row-major
  std::vector<std::int32_t> labels;
  std::vector<std::uint64_t> samples;  ///< index of each in the data set

  [[nodiscard]] Input input() const { return {features, labels, samples}; }
};

struct Batch {
  Round round;       ///< which round it is for, where rounds are planned
  IndexRange range;  ///< the positions it spends; `count` 0: nothing to compute, this round or at present
  std::shared_ptr<const BatchData> data;  ///< null when the range is empty
  bool again = false;                     ///< these samples were refused before, as another contribution
  bool last = true;                       ///< of the worker's share of a planned round
  std::uint64_t serial = 0;               ///< counts what the worker is given, where rounds are not planned
};

}  // namespace thalweg
