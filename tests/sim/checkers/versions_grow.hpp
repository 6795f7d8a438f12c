#pragma once

#include "tests/sim/checker.hpp"

#include <map>
#include <string>
#include <utility>

namespace thalweg::sim {

/// Versions only grow: each commit of the root is the version after the one before, and each round opens once
/// with one; nobody is sent an older round or version after a newer one; and what a worker adopts is newer
/// than what it had.
class VersionsGrow final : public Checker {
 public:
  VersionsGrow() : Checker("versions_grow") {}

  void begins(const Job& job, const rules::LockstepSampling& sampling,
              const actors::Snapshot* start) override;
  void sent(const Message& message) override;
  void decided(std::string_view who, const rules::Reason& reason) override;
  void ends(const Ending& ending) override;

 private:
  struct Seen {
    Version version;
    Round round;  ///< that opens with it
  };

  void make(Version version);

  bool by_rounds_ = true;          ///< elsewhere several answers may tell of one round
  std::optional<Version> newest_;  ///< of the root
  std::map<std::string, Seen> sent_;
  bool newcomers_ = false;  ///< there are some
  std::map<std::string, std::uint64_t, std::less<>> adopted_;
};

}  // namespace thalweg::sim
