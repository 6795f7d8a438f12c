#pragma once

#include "tools/compare/result.hpp"

#include <thalweg/config.hpp>
#include <thalweg/run_event.hpp>

#include <functional>
#include <vector>

/// One run of a comparison: between the command, which decides what runs when, and the cluster, whose events
/// become curves.
namespace thalweg::compare {

/// Makes curves of a run's events. Called for one event at a time.
class Recorder {
 public:
  void take(const RunEvent& event);

  /// The run as it was recorded. An evaluation that runs beside training ends later than the parameters that
  /// it is of were there, so its points stand at the time of their commit where that is known.
  [[nodiscard]] Run recorded() const;

 private:
  struct Commit {
    std::uint64_t version = 0;
    double wall_s = 0;
  };
  Run run_;
  std::vector<Commit> commits_;
  std::vector<std::uint64_t> evaluated_;  ///< versions, one for each point of accuracy
};

/// Trains `config` to its end and blocks until then. `watch` sees every event first and may be empty. What
/// goes wrong is in the run's summary: `end` is "failed" or "diverged", `failure` says why.
Run run_once(const Config& config, const std::function<void(const RunEvent&)>& watch);

}  // namespace thalweg::compare
