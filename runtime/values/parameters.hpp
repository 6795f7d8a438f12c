#pragma once

#include "runtime/values/ids.hpp"
#include "runtime/values/index_range.hpp"
#include "runtime/values/payload.hpp"

#include <cstdint>
#include <memory>
#include <optional>
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
  std::uint64_t slowest = 0;            ///< iterations of the slowest worker that are in it, where it is told
};

/// What became of the run's samples up to a version: with it and the parameters another process can go on.
struct Ledger {
  std::vector<IndexRange> spent;        ///< committed positions, merged
  std::vector<IndexRange> quarantined;  ///< refused twice, merged
  std::uint64_t repeated = 0;           ///< samples that were committed more than once
  std::uint64_t refused = 0;            ///< contributions
};

struct Parameters {
  Payload payload;  ///< laid out as the model's slots
  CommitRecord record;
  /// In answer to a contribution: whose, and for which of its origin's. Nobody else needs them then.
  struct Answer {
    MemberId to;
    std::uint64_t seq = 0;
  };
  std::optional<Answer> answer;
  /// To a newcomer: the first round that counts what it contributes. Empty: it is the one that opens.
  std::optional<Round> begins;
  /// Of the round that made this version, where workers make outer steps of their own: the sum of
  /// n·(w - x) and its n. Null elsewhere.
  Payload moves;
  std::uint64_t move_samples = 0;
  /// Of this version. Null where no other process is to go on from it.
  std::shared_ptr<const Ledger> ledger;
  /// Whoever gets them needs no older ones: those that still wait to be sent need not be. Not told to others.
  bool newest_only = false;

  [[nodiscard]] Version version() const { return record.version; }
};

}  // namespace thalweg
