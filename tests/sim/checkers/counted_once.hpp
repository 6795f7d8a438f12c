#pragma once

#include "tests/sim/checker.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace thalweg::sim {

/// Every sample counts once and whole: what a contribution says it holds is what its payload holds, at every
/// level; every position of the data is in exactly one commit, or quarantined; and a commit moves the
/// parameters by the mean of what is in it.
class CountedOnce final : public Checker {
 public:
  CountedOnce() : Checker("counted_once") {}

  void begins(const Job& job, const rules::LockstepSampling& sampling,
              const actors::Snapshot* start) override;
  void sent(const Message& message) override;
  void delivered(const Message& message) override;
  void ends(const Ending& ending) override;

 private:
  using Sums = std::vector<std::int64_t>;

  void check(const Message& message, const Contribution& contribution);
  void check_payload(const std::string& what, const Contribution& contribution, const Message& message);
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
  std::vector<IndexRange> planned_;  ///< all that an undisturbed run commits
  std::uint64_t per_epoch_ = 0;      ///< positions of an epoch that are used
  std::map<std::uint64_t, std::vector<std::uint32_t>> orders_;
  std::set<MessageId> faulty_;  ///< found so when they were sent

  std::vector<IndexRange> ledger_;
  bool begun_ = false;
  Version version_;
  std::uint64_t committed_ = 0;
  std::vector<float> parameters_;
};

}  // namespace thalweg::sim
