#pragma once

#include "tests/sim/checker.hpp"

#include <map>
#include <string>

namespace thalweg::sim {

/// The run ends, within bounds of time and events, as it should, and leaves nothing behind.
class Ends final : public Checker {
 public:
  Ends() : Checker("ends") {}

  void begins(const Job& job, const rules::LockstepSampling& sampling) override;
  void decided(std::string_view who, const rules::Reason& reason) override;
  void waits(std::string_view who, std::string_view for_whom, const rules::Reason& until) override;
  void ends(const Ending& ending) override;

 private:
  bool may_stop_ = false;
  std::map<std::string, std::string, std::less<>> waits_;  ///< what each waits for, in its own words
};

}  // namespace thalweg::sim
