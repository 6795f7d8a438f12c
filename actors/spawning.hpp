#pragma once

#include "actors/aggregator.hpp"
#include "actors/assembly.hpp"
#include "actors/interfaces.hpp"

#include <caf/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

/// How an assembly becomes actors: the same whether the root's supervisor spawns them or the host of another
/// node. They are neither watched nor told of each other yet.
namespace thalweg::actors {

/// What all of them need beside the assembly, which outlives none of them.
struct Spawning {
  caf::actor_system& system;
  const Assembly& assembly;
  OwnerHandle owner;  ///< hears their last words
  SchedulerHandle scheduler;

  /// `first`: the first round of the run, or of its resumption.
  [[nodiscard]] FeederHandle feeder(Round first) const;

  /// A leader, or, with `root`, the root. `parent` is null and its name empty at the root.
  [[nodiscard]] AggregatorHandle aggregator(MemberId id, std::size_t level, const AggregatorHandle& parent,
                                            const std::string& parent_name,
                                            std::optional<Root::Options> root = {}) const;

  [[nodiscard]] WorkerHandle worker(std::uint32_t number, const AggregatorHandle& parent,
                                    const std::string& parent_name, const FeederHandle& feeder,
                                    Compute compute) const;
};

}  // namespace thalweg::actors
