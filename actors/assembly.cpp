#include "actors/assembly.hpp"

#include "actors/emulation.hpp"
#include "gpu/flat.hpp"
#include "models/network.hpp"
#include "models/registry.hpp"
#include "models/safetensors.hpp"

#include <exception>
#include <new>
#include <system_error>
#include <utility>

namespace thalweg::actors {

namespace {

/// Published w, next w, and what the evaluator may still hold.
constexpr std::size_t parameter_buffers = 8;

Result<rules::LockstepSampling> sampling_of(const Config& config, const models::Dataset& train) {
  rules::SamplingOptions options;
  options.samples_per_epoch = train.size();
  for (std::size_t i = 0; i < config.topology.workers; ++i) options.batches.push_back(config.batch_of(i));
  options.drop_last = config.data.drop_last;
  options.epochs = config.train.epochs;
  options.rounds = config.train.steps;
  return rules::LockstepSampling::make(std::move(options));
}

Result<Compute> make_compute(const Config& config, const models::Dataset& train,
                             const AssemblyOptions& options, const std::string& name) {
  Compute compute;
  compute.stream = options.device->open_stream(name);
  if (options.model) {
    auto model = options.model();
    if (!model) return model.error();
    if (*model == nullptr) return Error{ErrorCode::failed, "the program's model factory made no model"};
    compute.model = std::move(model).value();
  } else {
    auto spec = models::find_network(config, train.sample_shape(), train.classes());
    if (!spec) return spec.error();
    auto model = models::make_network(*spec, *options.device, *compute.stream);
    if (!model) return model.error();
    compute.model = std::move(model).value();
  }
  return compute;
}

Status check_fits(const Model& model, const models::Dataset& train) {
  std::size_t sample = 1;
  for (const auto extent : train.sample_shape()) sample *= extent;
  if (model.input_size() != sample || model.classes() < train.classes()) {
    return Error{ErrorCode::mismatch, "the model takes " + std::to_string(model.input_size()) +
                                          " numbers and tells " + std::to_string(model.classes()) +
                                          " classes apart, the data set has " + std::to_string(sample) +
                                          " and " + std::to_string(train.classes()) +
                                          ": choose a model made for this data set"};
  }
  return {};
}

Result<Snapshot> initial_snapshot(const Config& config, const Model& model, gpu::BufferPool& pool) {
  const auto parameters = pool.take();
  THALWEG_CHECK(parameters != nullptr, "a fresh pool has buffers");
  gpu::fill(parameters->values(), 0.0F);
  if (config.model.init_from.empty()) {
    model.initialize(parameters->values(), config.run.seed);
  } else {
    auto file = models::load_safetensors(config.model.init_from);
    if (!file) return file.error();
    auto filled = models::fill_from(*file, model.slots(), parameters->values(), config.model.init_from);
    if (!filled) return filled.error();
    if (!gpu::all_finite(parameters->host())) {
      return Error{ErrorCode::corrupt, config.model.init_from +
                                           ": holds numbers that are not finite: these weights "
                                           "come from a run that diverged; choose others"};
    }
  }
  Snapshot start;
  start.parameters = parameters;
  return start;
}

Result<Assembly> assemble_unguarded(const Config& config, models::DatasetPair data, AssemblyOptions options) {
  auto method = rules::find_method(config);
  if (!method) return method.error();
  auto sampling = sampling_of(config, *data.train);
  if (!sampling) return sampling.error();

  Assembly assembly;
  assembly.config = config;
  assembly.method = *method;
  assembly.sampling = *sampling;
  assembly.data = std::move(data);
  assembly.pool = options.pool;
  for (std::size_t i = 0; i <= config.topology.workers; ++i) {
    const bool worker = i < config.topology.workers;
    auto compute =
        make_compute(config, *assembly.data.train, options, worker ? "w" + std::to_string(i) : "evaluator");
    if (!compute) return compute.error();
    if (worker) {
      assembly.workers.push_back(std::move(*compute));
    } else {
      assembly.evaluator = std::move(*compute);
    }
  }
  const auto& model = *assembly.evaluator.model;
  if (auto fits = check_fits(model, *assembly.data.train); !fits) return fits.error();
  assembly.slots.assign(model.slots().begin(), model.slots().end());

  const auto size = flat_size(assembly.slots);
  assembly.make_pool = [device = options.device, size](std::size_t limit) {
    return device->make_pool(size, limit);
  };
  auto parameters = assembly.make_pool(parameter_buffers);
  if (options.restore) {
    auto restored = options.restore(assembly.slots, *parameters);
    if (!restored) return restored.error();
    options.start = std::move(*restored);
  }
  auto start = options.start ? Result<Snapshot>(std::move(*options.start))
                             : initial_snapshot(config, model, *parameters);
  if (!start) return start.error();
  for (const auto* ranges : {&start->ledger, &start->quarantined}) {
    for (const auto& range : *ranges) {
      if (range.end() <= assembly.sampling->samples_used_per_epoch()) continue;
      return Error{
          ErrorCode::mismatch,
          "the checkpoint was made on more training samples than there are now: bring back the data it was "
          "made on"};
    }
  }
  if (emulates_workers(config)) {
    THALWEG_CHECK(options.clock != nullptr, "emulated steps are timed by a clock");
    auto emulated =
        emulate_workers(assembly, start->parameters, *options.clock, options.device->info().cores);
    if (!emulated) return emulated.error();
  }
  assembly.first = Round{start->version.value};
  assembly.start_samples = start->committed_samples;
  assembly.allotment = rules::Allotment::Options{*assembly.sampling, config.stop.max_samples,
                                                 start->version.value, start->ledger, start->quarantined};

  auto optimizer = models::make_optimizer(config.train, assembly.slots);
  if (!optimizer) return optimizer.error();
  const auto budget = assembly.sampling->samples_before(assembly.sampling->rounds());
  auto global = GlobalModel::make({std::move(parameters), std::move(*optimizer),
                                   models::Schedule(config, budget), config.train.clip_norm},
                                  *start, options.term);
  if (!global) return global.error();
  assembly.model = std::move(*global);
  return assembly;
}

}  // namespace

Result<Assembly> assemble(const Config& config, models::DatasetPair data, AssemblyOptions options) {
  try {
    return assemble_unguarded(config, std::move(data), std::move(options));
  } catch (const std::system_error&) {
    throw;  // too few threads, and the like: whoever starts the run has a word for it
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {  // from a model that the program brought
    return Error{ErrorCode::failed, std::string("the model cannot be made: ") + error.what()};
  } catch (...) {
    return Error{ErrorCode::failed, "the model cannot be made: it threw something that says nothing"};
  }
}

}  // namespace thalweg::actors
