#pragma once

#include "actors/aggregator.hpp"
#include "actors/rules/sampling.hpp"
#include "actors/snapshot.hpp"
#include "gpu/device.hpp"
#include "models/dataset.hpp"
#include "runtime/pool/task_pool.hpp"

#include <thalweg/cluster.hpp>

#include <functional>
#include <memory>
#include <vector>

/// Everything a run needs before its first actor is spawned, made from a configuration on the thread that
/// starts the cluster, so that every error a user can cause comes back from Cluster::start.
namespace thalweg::actors {

/// A stream with the model that runs on it. The model goes first.
struct Compute {
  std::unique_ptr<gpu::Stream> stream;
  std::unique_ptr<Model> model;
};

struct Assembly {
  Config config;
  rules::Method method;
  std::optional<rules::LockstepSampling> sampling;
  models::DatasetPair data;
  std::vector<Slot> slots;
  std::vector<Compute> workers;  ///< by worker number
  Compute evaluator;
  std::shared_ptr<GlobalModel> model;
  std::function<std::shared_ptr<gpu::BufferPool>(std::size_t limit)> make_pool;  ///< of flat vectors
  TaskPool* pool = nullptr;
  Round first;  ///< the round that opens first
};

struct AssemblyOptions {
  gpu::Device* device = nullptr;  ///< outlives the assembly
  TaskPool* pool = nullptr;       ///< outlives it too; null: no pool, everything in handlers
  ModelFactory model;             ///< empty: the built-in network of the configuration
  /// Where to begin; empty: version 0, with the weights of `config.model.init_from` or from the seed.
  std::optional<Snapshot> start;
};

/// Fails: as Cluster::start, but for the run folder.
Result<Assembly> assemble(const Config& config, models::DatasetPair data, AssemblyOptions options);

}  // namespace thalweg::actors
