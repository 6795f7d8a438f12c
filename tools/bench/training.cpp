#include "tools/bench/training.hpp"

#include "actors/supervisor.hpp"
#include "models/registry.hpp"

#include <future>
#include <utility>

namespace thalweg::bench {
namespace {

constexpr std::uint64_t test_samples = 64;
constexpr std::uint64_t made_samples = 4096;

}  // namespace

Result<Config> bench_job(std::size_t workers, std::size_t batch, std::size_t rounds) {
  Config job;
  job.topology.workers = workers;
  job.train.batch = {batch};
  job.train.steps = rounds;
  job.eval.every = 0;
  return resolve_config(job);
}

Result<BenchData> bench_data(bool small) {
  BenchData data;
  data.name = "fashion_mnist";
  Config config;
  config.data.name = data.name;
  auto loaded =
      small ? Result<models::DatasetPair>(Error{ErrorCode::not_found, ""}) : models::load_dataset(config);
  if (!loaded && loaded.error().code != ErrorCode::not_found) return loaded.error();
  if (loaded) {
    data.pair.train = loaded->train;
  } else {
    data.name = "synthetic";
    data.pair.train = models::make_synthetic({.samples = made_samples});
  }
  data.pair.test = models::make_synthetic({.samples = test_samples, .part = 1});
  return data;
}

Status train(const Config& job, const models::DatasetPair& data, ModelFactory model, Machine& machine,
             const Clock& clock, actors::MessageSink& sink) {
  auto assembly =
      actors::assemble(job, data, {machine.device.get(), &machine.pool, std::move(model), std::nullopt});
  if (!assembly) return assembly.error();
  actors::ReporterState::Options reporter;
  reporter.summary.workers = job.topology.workers;
  reporter.samples_per_epoch = assembly->sampling->samples_used_per_epoch();
  auto outcome = std::make_shared<std::promise<actors::Outcome>>();
  auto ended = outcome->get_future();
  reporter.on_outcome = [outcome = std::move(outcome)](actors::Outcome result) {
    outcome->set_value(std::move(result));
  };

  const auto context = actors::make_node_context(clock, &sink);
  caf::actor_system system(*context);
  auto supervisor = actors::spawn_role<actors::SupervisorHandle, actors::SupervisorState>(
      system, {std::move(*assembly), std::move(reporter), std::nullopt, {}, true});
  const Summary summary = ended.get().summary;
  supervisor = actors::SupervisorHandle();
  system.await_all_actors_done();
  if (summary.end != "done")
    return Error{ErrorCode::failed, "a training run of the bench: " + summary.failure};
  return {};
}

}  // namespace thalweg::bench
