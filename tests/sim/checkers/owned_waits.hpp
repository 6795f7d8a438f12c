#pragma once

#include "tests/sim/checker.hpp"

#include <map>
#include <set>
#include <string>

namespace thalweg::sim {

/// Nobody waits in secret: whenever time goes on, every worker and aggregator that lives and whose stream is
/// not at work has said for whom it waits, and until what. (The other roles have nothing to do until they are
/// asked.) When the run stands still, the waits that nothing will end are its findings.
class OwnedWaits final : public Checker {
 public:
  OwnedWaits() : Checker("owned_waits") {}

  void named(std::string_view who) override;
  void sent(const Message& message) override;
  void waits(std::string_view who, std::string_view for_whom, const rules::Reason& until) override;
  void goes_on(std::string_view who) override;
  void computes(std::string_view who, bool busy) override;
  void dies(std::string_view who) override;
  void pauses(Time now, bool for_ever) override;

 private:
  struct Actor {
    std::string waits;  ///< for whom and until what; empty: it has not said so
    bool busy = false;  ///< its stream is
  };
  std::map<std::string, Actor, std::less<>> actors_;  ///< the workers and aggregators that live
};

}  // namespace thalweg::sim
