#pragma once

#include "actors/rules/method.hpp"
#include "tests/sim/checker.hpp"
#include "tests/sim/checkers/parts.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace thalweg::sim {

/// Every sample counts once and whole: what a contribution says it holds is what its payload holds, at every
/// level; every position of the data is in exactly one commit, or quarantined; and a commit moves the
/// parameters by what the method makes of it.
///
/// Sums of gradients are exact. Where gradients are scaled by their age, or moves are sent, leaders and root
/// are held to what came from the workers; and a worker's move, where its steps are plain, to its batches.
class CountedOnce final : public Checker {
 public:
  CountedOnce() : Checker("counted_once") {}

  void begins(const Job& job, const rules::LockstepSampling& sampling,
              const actors::Snapshot* start) override;
  void sent(const Message& message) override;
  void delivered(const Message& message) override;
  void decided(std::string_view who, const rules::Reason& reason) override;
  void ends(const Ending& ending) override;

 private:
  using Sums = std::vector<double>;

  void check(const Message& message, const Contribution& contribution);
  void check_payload(const std::string& what, const Contribution& contribution, const Message& message);
  /// What a worker's contribution should be; nothing: that cannot be said.
  [[nodiscard]] std::optional<Sums> worth_of(std::string_view worker, const Contribution& contribution);
  /// What is made of the workers' contributions in `spent` at `now`; nothing: that cannot be said.
  [[nodiscard]] std::optional<Sums> made_of(const std::vector<IndexRange>& spent, bool scaled, Version now);
  void commit(const Parameters& parameters);
  void count(const CommitRecord& record);
  void check_move(const Parameters& parameters);
  void check_snapshot(const std::string& what, const actors::Snapshot& snapshot);
  void check_whole(const actors::Snapshot& snapshot);
  void found(const Message& message, const std::string& text);
  [[nodiscard]] bool may_be_bad(const Message& message) const;
  [[nodiscard]] Sums sums_of(const std::vector<IndexRange>& ranges);
  const std::vector<std::uint32_t>& order_of(std::uint64_t epoch);

  Job job_;
  rules::Method method_;
  bool by_samples_ = false;          ///< the run's length is one of samples, not of rounds
  std::uint64_t budget_ = 0;         ///< samples
  std::vector<IndexRange> planned_;  ///< all that an undisturbed run commits
  std::uint64_t per_epoch_ = 0;      ///< positions of an epoch that are used
  std::map<std::uint64_t, std::vector<std::uint32_t>> orders_;
  std::map<MessageId, std::uint64_t> sent_;  ///< payloads on their way
  Parts parts_;
  std::map<std::string, std::vector<IndexRange>, std::less<>> batches_;  ///< by worker, not contributed yet
  bool tallies_merged_ = false;  ///< a leader had too many versions to hold them apart

  std::vector<IndexRange> ledger_;
  bool begun_ = false;
  Version version_;
  std::uint64_t committed_ = 0;
  std::vector<float> parameters_;
};

}  // namespace thalweg::sim
