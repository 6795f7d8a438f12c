#pragma once

#include "tests/sim/checker.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace thalweg::sim {

/// Who is refused, and what follows from it: only what is no good is refused, and all of that is; what was
/// refused of a worker goes to another one while there is one; it is quarantined when it was refused twice;
/// and a worker loses its place for refusals that were fine elsewhere, and only for those.
class RefusedFairly final : public Checker {
 public:
  RefusedFairly() : Checker("refused_fairly") {}

  void begins(const Job& job, const rules::LockstepSampling& sampling,
              const actors::Snapshot* start) override;
  void sent(const Message& message) override;
  void ends(const Ending& ending) override;

 private:
  struct Refused {
    MemberId origin;
    std::vector<IndexRange> spent;
    std::vector<IndexRange> fine;  ///< of which others have brought into a commit
  };

  void close(const actors::RoundClosed& closed);
  void check_quarantine(const actors::Snapshot& snapshot);
  void check_departure(const actors::Departed& departed);

  Job job_;
  std::set<std::string> bad_;         ///< "w3: epoch 0, 4..7": sent, and no good
  std::vector<Refused> refused_;      ///< in the order of their rounds
  std::vector<IndexRange> before_;    ///< quarantined by the run that this one goes on with
  std::uint64_t refused_before_ = 0;  ///< likewise, contributions
  std::size_t workers_ = 0;           ///< that are left
};

}  // namespace thalweg::sim
