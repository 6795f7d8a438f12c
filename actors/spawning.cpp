#include "actors/spawning.hpp"

#include "actors/feeder.hpp"
#include "actors/worker.hpp"

#include <utility>

namespace thalweg::actors {

FeederHandle Spawning::feeder(Round first) const {
  return spawn_role<FeederHandle, FeederState>(
      system, {assembly.data.train, assembly.config.run.seed, first, assembly.method.planned(), owner,
               scheduler, assembly.pool});
}

AggregatorHandle Spawning::aggregator(MemberId id, std::size_t level, const AggregatorHandle& parent,
                                      const std::string& parent_name,
                                      std::optional<Root::Options> root) const {
  return spawn_role<AggregatorHandle, AggregatorState>(
      system, {id, level, parent, parent_name, owner, scheduler,
               assembly.make_pool(AggregatorState::sums_of(assembly.method, level)), assembly.pool,
               assembly.method, rules::Guard(assembly.config.guard.max_norm), std::move(root)});
}

WorkerHandle Spawning::worker(std::uint32_t number, const AggregatorHandle& parent,
                              const std::string& parent_name, const FeederHandle& feeder,
                              Compute compute) const {
  return spawn_role<WorkerHandle, WorkerState>(
      system, {number, parent, parent_name, feeder, owner, std::move(compute.stream),
               std::move(compute.model), assembly.make_pool(WorkerState::gradients_of(assembly.method)),
               assembly.method, std::move(compute.replica)});
}

}  // namespace thalweg::actors
