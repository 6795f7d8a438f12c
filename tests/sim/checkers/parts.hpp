#pragma once

#include "runtime/values/contribution.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace thalweg::sim {

/// What workers have contributed and no commit holds yet: what each such contribution is worth, so that what
/// leaders and the root make of several can be worked out.
class Parts {
 public:
  struct Part {
    std::vector<IndexRange> spent;
    Version base;
    std::uint64_t batch = 0;
    std::vector<double> values;  ///< of the payload
  };

  /// A worker's; what was known of the same positions is forgotten.
  void add(const Contribution& contribution, std::vector<double> values);
  /// Those of which all is in `spent`, each once.
  [[nodiscard]] std::vector<const Part*> in(const std::vector<IndexRange>& spent) const;
  void forget(const std::vector<IndexRange>& spent);

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, Part> parts_;  ///< by where their first range begins
};

}  // namespace thalweg::sim
