#pragma once

#include "tests/sim/checker.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace thalweg::sim {

/// The numbers of the summary are what went over the wire: bytes per level, messages handled, commits. Where
/// a worker was lost, no more than that.
class BooksBalance final : public Checker {
 public:
  BooksBalance() : Checker("books_balance") {}

  void begins(const Job& job, const rules::LockstepSampling& sampling,
              const actors::Snapshot* start) override;
  void sent(const Message& message) override;
  void handled(std::string_view who, const Stamp& stamp) override;
  void dies(std::string_view who) override;
  void ends(const Ending& ending) override;

 private:
  std::map<std::string, std::size_t, std::less<>> levels_;  ///< of the aggregators
  std::vector<std::uint64_t> up_, down_;                    ///< bytes by level
  std::uint64_t handled_ = 0;
  std::uint64_t commits_ = 0;  ///< the newest version that the reporter has heard of
  bool lockstep_ = true;       ///< nothing is on its way when a run is stopped
  bool disturbed_ = false;     ///< somebody was lost: what was on its way to or from it is not in the summary
  bool killed_ = false;        ///< or had no last words
  bool books_lost_ = false;    ///< it was an aggregator, which had counted some of the bytes
};

}  // namespace thalweg::sim
