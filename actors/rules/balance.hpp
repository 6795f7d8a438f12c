#pragma once

#include "runtime/values/contribution.hpp"

#include <cstdint>
#include <map>
#include <vector>

/// Batches by speed: who computes faster gets more of a round, so that nobody waits. (FLSGD's partition: the
/// dynamic batch size of Ye et al., 2022.) The scheduler's decision; knows no actor and no clock: what it
/// decides depends on measured times, so a run with it does not follow from its seed.
namespace thalweg::rules {

class Balance {
 public:
  /// `every`: commits between two cuts. `global_batch`: B, what all batches add up to, always.
  /// Requires: global_batch >= number of workers.
  Balance(std::uint64_t global_batch, std::uint64_t every) : global_batch_(global_batch), every_(every) {}

  /// A commit was made of this work.
  void observe(const std::vector<Work>& work);

  /// Whether it is time to cut again.
  [[nodiscard]] bool due() const { return commits_ >= every_; }

  /// b_i = 1 + the largest-remainder share of B - N by speed, for N workers: no b_i is 0 and they add up to
  /// B. speed_i = samples / compute time, smoothed; who is not known yet has the mean of the others. While
  /// nobody is known, `batches` as they are.
  std::map<std::uint32_t, std::uint64_t> cut(const std::map<std::uint32_t, std::uint64_t>& batches);

 private:
  struct Measured {
    std::uint64_t samples = 0, compute_ns = 0;  ///< since the last cut
    double speed = 0;                           ///< samples per ns, smoothed; 0: not known
  };

  std::uint64_t global_batch_;
  std::uint64_t every_;
  std::uint64_t commits_ = 0;  ///< since the last cut
  std::map<std::uint32_t, Measured> workers_;
};

}  // namespace thalweg::rules
