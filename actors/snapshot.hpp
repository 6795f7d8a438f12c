#pragma once

#include "runtime/values/ids.hpp"
#include "runtime/values/index_range.hpp"
#include "runtime/values/payload.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace thalweg::actors {

/// All that must be kept of a run to go on with it: what the root holds after a commit.
struct Snapshot {
  Version version;
  Payload parameters;
  struct OptimizerState {
    std::string name;  ///< "momentum"
    std::vector<float> values;
  };
  std::vector<OptimizerState> optimizer;
  std::uint64_t optimizer_steps = 0;
  bool whole = true;  ///< false: a step that was not committed has changed the optimizer's state
  std::uint64_t committed_samples = 0;
  std::vector<IndexRange> ledger;  ///< spent positions, merged
  std::uint64_t repeated_samples = 0;
  std::vector<IndexRange> quarantined;  ///< positions refused twice, merged; not tried again
  std::uint64_t refused = 0;            ///< contributions
};

}  // namespace thalweg::actors
