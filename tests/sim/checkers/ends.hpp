#pragma once

#include "tests/sim/checker.hpp"

#include <map>
#include <string>

namespace thalweg::sim {

/// The run ends, within bounds of time and events, as it should, and leaves nothing behind.
class Ends final : public Checker {
 public:
  Ends() : Checker("ends") {}

  void begins(const Job& job, const rules::LockstepSampling& sampling,
              const actors::Snapshot* start) override;
  void sent(const Message& message) override;
  void decided(std::string_view who, const rules::Reason& reason) override;
  void waits(std::string_view who, std::string_view for_whom, const rules::Reason& until) override;
  void ends(const Ending& ending) override;

 private:
  void check_end(const Summary& summary);

  Job job_;
  bool by_member_ = true;  ///< a round of the root has something of everybody
  std::size_t departed_ = 0;
  std::size_t arrived_ = 0;                                ///< workers
  std::uint64_t refused_in_a_row_ = 0;                     ///< rounds in which everything was refused
  std::map<std::string, std::string, std::less<>> waits_;  ///< what each waits for, in its own words
};

}  // namespace thalweg::sim
