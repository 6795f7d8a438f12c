#pragma once

#include "runtime/values/ids.hpp"
#include "runtime/values/index_range.hpp"
#include "runtime/values/payload.hpp"

#include <cstdint>
#include <vector>

/// What travels down, root to leader to worker: the model after a commit, and the record of that commit.
namespace thalweg {

struct CommitRecord {
  std::uint32_t term = 0;
  Version version;
  Round round;                          ///< that opens with it
  std::uint64_t committed_samples = 0;  ///< over the whole run
  std::vector<IndexRange> spent;        ///< since the version before
  bool last = false;                    ///< no round follows
};

struct Parameters {
  Payload payload;  ///< laid out as the model's slots
  CommitRecord record;

  [[nodiscard]] Version version() const { return record.version; }
};

}  // namespace thalweg
