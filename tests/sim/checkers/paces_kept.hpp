#pragma once

#include "actors/rules/method.hpp"
#include "tests/sim/checker.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace thalweg::sim {

/// Nobody is further ahead, and nothing is older, than the method allows: a worker contributes to a round
/// only when those before it that must be closed are; one that is answered has one contribution under way;
/// under a gap rule nobody is more than the gap and the step it was allowed ahead of the slowest; what is
/// committed was computed at parameters of the age the method is known for; and a pull asks somebody who has
/// something, once at a time.
class PacesKept final : public Checker {
 public:
  PacesKept() : Checker("paces_kept") {}

  void begins(const Job& job, const rules::LockstepSampling& sampling,
              const actors::Snapshot* start) override;
  void sent(const Message& message) override;
  void delivered(const Message& message) override;
  void dies(std::string_view who) override;

 private:
  struct Worker {
    std::optional<Round> open;     ///< the newest that it was told of
    std::uint64_t unanswered = 0;  ///< contributions
    std::optional<Round> contributed;
    std::optional<std::uint64_t> clock =
        0;  ///< iterations finished, as it says; of a newcomer: not known yet
  };
  void contributes(const std::string& who, const Contribution& contribution);
  void check_gap(const std::string& who);
  void check_ages(const actors::Committed& committed);
  void check_answer(const Message& message, const Contribution& contribution);

  rules::Method method_;
  std::uint64_t workers_most_ = 0;
  std::map<std::string, Worker, std::less<>> workers_;  ///< that are there
  bool rested_ = false;  ///< somebody had nothing to compute on: nobody waits for it
  std::optional<Round> pulling_;
};

}  // namespace thalweg::sim
