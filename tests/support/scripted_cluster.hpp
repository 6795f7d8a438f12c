#pragma once

#include "actors/reporter.hpp"
#include "actors/snapshot.hpp"
#include "gpu/buffer.hpp"
#include "models/dataset.hpp"
#include "tests/support/timed_device.hpp"

#include <thalweg/cluster.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// A whole cluster in one thread: the product's own actors on CAF's test coordinator, without a pool. The
/// order in which actors run is a seed's. Streams are inline and the clock stands still, unless steps are
/// given times: then the clock goes from the end of a step to that of the next.
namespace thalweg::testing {

struct ScriptedOptions {
  Config config;
  models::DatasetPair data;
  ModelFactory model;                     ///< empty: the built-in network
  std::optional<actors::Snapshot> start;  ///< empty: version 0
  std::uint64_t shuffle = 0;              ///< 0: first come, first served; else the seed of the order
  StepTime step_time;                     ///< empty: steps take no time
};

struct ScriptedResult {
  actors::Outcome outcome;
  std::vector<std::string> messages;   ///< "root < contribution", in the order in which they were handled
  std::vector<std::string> decisions;  ///< "root: closes round 0: all 2 members are in"
  std::vector<RunEvent> events;
  /// Of the pools that the actors were given, by the actor's name: a worker's gradients, an aggregator's
  /// sums.
  std::map<std::string, gpu::PoolCounters> pools;
};

/// Runs it to its end. Fails as actors::assemble, or when the run stands still before its end.
Result<ScriptedResult> run_scripted(const ScriptedOptions& options);

}  // namespace thalweg::testing
