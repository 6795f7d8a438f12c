#pragma once

#include "tests/sim/checker.hpp"
#include "tests/sim/simulation.hpp"

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

/// From a seed to what was wrong with its run.
namespace thalweg::sim {

/// One of every checker.
std::vector<std::unique_ptr<Checker>> all_checkers();

struct Report {
  std::vector<std::string> findings;  ///< none: every invariant held
  Ending ending;
  std::uint64_t hash = 0;  ///< of the trace
  bool resumed = false;    ///< the ending is that of the second half
  std::uint64_t messages = 0;
};

/// Runs it under all checkers, and, where its machine is lost, what goes on from the last checkpoint.
/// `trace`, when not null, gets every message and decision as a line.
Report run_checked(const SimulationOptions& options, std::ostream* trace = nullptr);

/// A seed that failed, for whoever has to find out why: which, of which commit, what was found, how to run it
/// again.
std::string failure_text(const Job& job, const Report& report);

}  // namespace thalweg::sim
