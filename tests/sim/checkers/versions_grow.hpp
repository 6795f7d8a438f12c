#pragma once

#include "tests/sim/checker.hpp"

#include <map>
#include <string>

namespace thalweg::sim {

/// Versions only grow: each commit of the root is the version after the one before; nobody sends a version
/// after a newer one to the same receiver; and what a worker adopts is newer than what it had.
class VersionsGrow final : public Checker {
 public:
  VersionsGrow() : Checker("versions_grow") {}

  void sent(const Message& message) override;
  void decided(std::string_view who, const rules::Reason& reason) override;
  void ends(const Ending& ending) override;

 private:
  std::optional<Version> newest_;  ///< of the root
  std::map<std::string, Version> sent_;
  std::map<std::string, std::uint64_t, std::less<>> adopted_;
};

}  // namespace thalweg::sim
