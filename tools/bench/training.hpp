#pragma once

#include "actors/assembly.hpp"
#include "actors/node_context.hpp"

#include <thalweg/config.hpp>

#include <memory>

/// The real actors at work, from an assembly to their end, without run folder and files: what `rounds` and
/// `turnaround` watch.
namespace thalweg::bench {

/// Threads and devices that outlive the runs made on them.
struct Machine {
  std::unique_ptr<gpu::Device> device = gpu::open_host_device();
  TaskPool pool;
};

/// A job for benches: `workers` under one leader, each with `batch` samples a round, `rounds` rounds, no
/// evaluation but the last. Fails: as resolve_config.
Result<Config> bench_job(std::size_t workers, std::size_t batch, std::size_t rounds);

/// Training data for lenet5, and a few test samples: Fashion-MNIST where it is installed, else made ones.
/// `name` says which. Fails: as load_dataset.
struct BenchData {
  models::DatasetPair pair;
  std::string name;
};
Result<BenchData> bench_data(bool small);

/// Runs `job` on the actors, with the settings a cluster has, and returns when the last has ended. `sink`
/// hears of every message. Fails: as actors::assemble, and when the run does.
Status train(const Config& job, const models::DatasetPair& data, ModelFactory model, Machine& machine,
             const Clock& clock, actors::MessageSink& sink);

}  // namespace thalweg::bench
