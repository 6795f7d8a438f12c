#pragma once

#include "actors/snapshot.hpp"
#include "tests/sim/checker.hpp"
#include "tests/sim/job.hpp"
#include "tests/sim/wire.hpp"

#include <cstdint>
#include <optional>

/// A whole cluster in one thread, from one seed: the product's own actors on CAF's test coordinator, with
/// streams and links on virtual time. Actors that are ready at the same moment run in an order that the seed
/// shuffles.
namespace thalweg::sim {

struct SimulationOptions {
  Job job;
  Bug bug;                                ///< empty: none is planted
  std::optional<actors::Snapshot> start;  ///< empty: version 0
};

/// Runs it to its end, to where it stands still, or to the bounds on time and events. The same options give
/// the same run. Requires: the checkers of `audience` are fresh.
Ending simulate(const SimulationOptions& options, const Audience& audience);

}  // namespace thalweg::sim
