#pragma once

#include "actors/aggregator.hpp"
#include "actors/replica.hpp"
#include "actors/rules/allotment.hpp"
#include "actors/rules/balance.hpp"
#include "actors/rules/sampling.hpp"
#include "actors/snapshot.hpp"
#include "gpu/device.hpp"
#include "models/dataset.hpp"
#include "runtime/pool/task_pool.hpp"
#include "runtime/time/clock.hpp"

#include <thalweg/cluster.hpp>

#include <functional>
#include <memory>
#include <span>
#include <vector>

/// Everything a run needs before its first actor is spawned, made from a configuration on the thread that
/// starts the cluster, so that every error a user can cause comes back from Cluster::start.
namespace thalweg::actors {

/// A stream with what runs on it, which goes first.
struct Compute {
  std::unique_ptr<gpu::Stream> stream;
  std::unique_ptr<Model> model;
  std::unique_ptr<Replica> replica;  ///< a worker's, where the method steps on one
};

struct Assembly {
  Config config;
  rules::Method method;
  TreeSpec tree;  ///< that is spawned: workers that are pulled have a leader, also right below the root
  std::optional<rules::Balance> balance;
  std::optional<rules::LockstepSampling> sampling;     ///< what an undisturbed run takes
  std::optional<rules::Allotment::Options> allotment;  ///< likewise, from where this one begins
  models::DatasetPair data;
  std::vector<Slot> slots;
  std::vector<Compute> workers;  ///< by worker number
  Compute evaluator;
  std::shared_ptr<GlobalModel> model;
  std::function<std::shared_ptr<gpu::BufferPool>(std::size_t limit)> make_pool;  ///< of flat vectors
  std::shared_ptr<gpu::BufferPool> parameters;                                   ///< of the root
  /// What one more worker of this node runs on. Fails: as a model does.
  std::function<Result<Compute>(std::uint32_t number)> make_worker;
  TaskPool* pool = nullptr;
  Round first;                      ///< the round that opens first
  std::uint64_t start_samples = 0;  ///< committed before it
  double best_accuracy = -1;        ///< of the evaluations before it
  bool tells_ledger = false;        ///< parameters carry it
};

struct AssemblyOptions {
  gpu::Device* device = nullptr;  ///< outlives the assembly
  TaskPool* pool = nullptr;       ///< outlives it too; null: no pool, everything in handlers
  ModelFactory model;             ///< empty: the built-in network of the configuration
  /// Where to begin; empty: version 0, with the weights of `config.model.init_from` or from the seed.
  std::optional<Snapshot> start;
  /// Likewise, for whoever needs the model's layout first. A result without a snapshot: as if it were empty.
  using Restore = std::function<Result<std::optional<Snapshot>>(std::span<const Slot> slots,
                                                                gpu::BufferPool& parameters)>;
  Restore restore = {};
  std::uint32_t term = 1;
  std::optional<std::size_t> workers = {};  ///< the first so many; empty: all
  const Clock* clock = nullptr;  ///< outlives it as well; emulated steps are timed by it, and need it
  bool tells_ledger = false;     ///< parameters carry it, for nodes that may outlive the root
};

/// What nodes of one run must agree on: the layout of the model, the size of the data set, and samples of it.
std::uint64_t model_hash(const Assembly& assembly);

/// Makes what the run begins with anew: the global model at `start`, and what is left to train from there.
/// Requires: no actor has `assembly` yet.
/// Fails: `mismatch`, when `start` was made on more data, or its optimizer is another one.
Status begin_at(Assembly& assembly, const Snapshot& start, std::uint32_t term);

/// Fails: as Cluster::start, but for the run folder.
Result<Assembly> assemble(const Config& config, models::DatasetPair data, AssemblyOptions options);

}  // namespace thalweg::actors
