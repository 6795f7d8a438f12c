#include "actors/assembly.hpp"

#include "actors/batch_cutter.hpp"
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

/// At most: published w, next w, and what the evaluator may still hold. A worker may be at a version of its
/// own, also where all go by rounds and it has had nothing to compute on for some, and the root may have to
/// know which. Buffers are made when they are needed; mostly that is a few.
std::size_t parameter_buffers(std::size_t workers) {
  constexpr std::size_t few = 8, newcomers = 8;
  return few + 3 * (workers + newcomers);
}

/// Workers right below the root that are to be pulled get a leader.
TreeSpec spawned_tree(const rules::Method& method, const TreeSpec& tree) {
  const bool pulled = method.trigger(1).kind == rules::TriggerRule::Kind::pulled;
  return pulled && tree.children.empty() ? TreeSpec{0, {tree}} : tree;
}

Result<std::unique_ptr<Replica>> make_replica(const Config& config, const rules::Method& method,
                                              const std::vector<Slot>& slots,
                                              const models::Schedule& schedule,
                                              std::shared_ptr<gpu::BufferPool> buffers, std::size_t worker) {
  auto inner = models::make_inner_optimizer(method.inner, config.train, slots);
  if (!inner) return inner.error();
  Replica::Options options{method, std::move(*inner), nullptr, schedule, std::move(buffers), 1};
  options.share = static_cast<double>(config.batch_of(worker)) / static_cast<double>(config.global_batch());
  if (method.adopt.kind == rules::AdoptRule::Kind::eager) {
    auto outer = models::make_outer_optimizer(method.outer, method.outer_momentum, slots);
    if (!outer) return outer.error();
    options.outer = std::move(*outer);
  }
  return std::make_unique<Replica>(std::move(options));
}

std::unique_ptr<models::DelayCompensation> make_compensation(const rules::MergeRule& merge,
                                                             std::size_t size) {
  using Kind = rules::MergeRule::Compensation;
  if (merge.compensation == Kind::none) return nullptr;
  models::DelayCompensation::Options options;
  options.mode = merge.compensation == Kind::constant ? models::DelayCompensation::Mode::constant
                                                      : models::DelayCompensation::Mode::adaptive;
  if (merge.lambda > 0) options.lambda = merge.lambda;
  options.clamp = merge.clamp;
  return std::make_unique<models::DelayCompensation>(options, size);
}

Result<rules::LockstepSampling> sampling_of(const Config& config, const models::Dataset& train) {
  rules::SamplingOptions options;
  options.samples_per_epoch = train.size();
  for (std::size_t i = 0; i < config.topology.workers; ++i) options.batches.push_back(config.batch_of(i));
  options.drop_last = config.data.drop_last;
  options.epochs = config.train.epochs;
  options.rounds = config.train.steps;
  return rules::LockstepSampling::make(std::move(options));
}

Result<Compute> make_compute(const Config& config, const models::Dataset& train, gpu::Device& device,
                             const ModelFactory& factory, const std::string& name) {
  Compute compute;
  compute.stream = device.open_stream(name);
  if (factory) {
    auto model = factory();
    if (!model) return model.error();
    if (*model == nullptr) return Error{ErrorCode::failed, "the program's model factory made no model"};
    compute.model = std::move(model).value();
  } else {
    auto spec = models::find_network(config, train.sample_shape(), train.classes());
    if (!spec) return spec.error();
    auto model = models::make_network(*spec, device, *compute.stream);
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
  if (assembly.method.half_warm_up) {
    // Half of the samples in rounds of one step (Lin et al., "Don't use large mini-batches, use local SGD").
    assembly.method.local.warmup_rounds = assembly.method.pace.warmup_rounds = sampling->rounds() / 2;
  }
  assembly.tree = spawned_tree(*method, config.topology.tree);
  if (config.balance.by == "speed") assembly.balance.emplace(config.global_batch(), config.balance.every);
  assembly.sampling = *sampling;
  assembly.data = std::move(data);
  assembly.pool = options.pool;
  for (std::size_t i = 0; i <= config.topology.workers; ++i) {
    const bool worker = i < config.topology.workers;
    if (worker && options.workers && i >= *options.workers) continue;  // another node hosts it
    auto compute = make_compute(config, *assembly.data.train, *options.device, options.model,
                                worker ? "w" + std::to_string(i) : "evaluator");
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
  assembly.parameters = assembly.make_pool(parameter_buffers(config.topology.workers));
  assembly.tells_ledger = options.tells_ledger;
  if (options.restore) {
    auto restored = options.restore(assembly.slots, *assembly.parameters);
    if (!restored) return restored.error();
    options.start = std::move(*restored);
  }
  auto start = options.start ? Result<Snapshot>(std::move(*options.start))
                             : initial_snapshot(config, model, *assembly.parameters);
  if (!start) return start.error();
  if (emulates_workers(config) && !assembly.workers.empty()) {
    THALWEG_CHECK(options.clock != nullptr, "emulated steps are timed by a clock");
    auto emulated =
        emulate_workers(assembly, start->parameters, *options.clock, options.device->info().cores);
    if (!emulated) return emulated.error();
  }
  if (auto begun = begin_at(assembly, *start, options.term); !begun) return begun.error();
  const models::Schedule schedule(config, assembly.sampling->samples_before(assembly.sampling->rounds()));
  for (std::size_t i = 0; i < assembly.workers.size() && assembly.method.replica(); ++i) {
    auto replica = make_replica(config, assembly.method, assembly.slots, schedule,
                                assembly.make_pool(Replica::buffers_max), i);
    if (!replica) return replica.error();
    assembly.workers[i].replica = std::move(*replica);
  }

  assembly.make_worker = [&device = *options.device, factory = options.model, config, clock = options.clock,
                          train = assembly.data.train, method = assembly.method, slots = assembly.slots,
                          schedule, make_pool = assembly.make_pool](std::uint32_t number) -> Result<Compute> {
    auto compute = make_compute(config, *train, device, factory, worker_id(number).text());
    if (!compute) return compute.error();
    if (emulates_workers(config)) emulate(*compute, config, number, *clock);
    if (!method.replica()) return compute;
    auto replica = make_replica(config, method, slots, schedule, make_pool(Replica::buffers_max), number);
    if (!replica) return replica.error();
    compute->replica = std::move(*replica);
    return compute;
  };
  return assembly;
}

}  // namespace

std::uint64_t model_hash(const Assembly& assembly) {
  // FNV-1a, 64 bits (Fowler, Noll, Vo).
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](const void* data, std::size_t bytes) {
    const auto* at = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ at[i]) * 0x100000001b3;
  };
  const auto add_number = [&add](std::uint64_t number) { add(&number, sizeof number); };
  for (const auto& slot : assembly.slots) {
    add(slot.name.data(), slot.name.size());
    add_number(slot.offset);
    add_number(slot.count);
  }
  const auto& train = *assembly.data.train;
  add_number(train.size());
  BatchCutter cutter(assembly.data.train, 0);
  const auto sample = cutter.cut({0, 0, std::min<std::uint64_t>(train.size(), 16)});
  add(sample->features.data(), sample->features.size() * sizeof(float));
  add(sample->labels.data(), sample->labels.size() * sizeof sample->labels.front());
  return hash;
}

Status begin_at(Assembly& assembly, const Snapshot& start, std::uint32_t term) {
  const auto& config = assembly.config;
  for (const auto* ranges : {&start.ledger, &start.quarantined}) {
    for (const auto& range : *ranges) {
      if (range.end() <= assembly.sampling->samples_used_per_epoch()) continue;
      return Error{
          ErrorCode::mismatch,
          "the checkpoint was made on more training samples than there are now: bring back the data it was "
          "made on"};
    }
  }
  assembly.first = Round{start.version.value};
  assembly.start_samples = start.committed_samples;
  const auto budget = assembly.sampling->samples_before(assembly.sampling->rounds());
  assembly.allotment = rules::Allotment::Options{*assembly.sampling, config.stop.max_samples,
                                                 start.version.value, start.ledger, start.quarantined};
  // With newcomers a round may take more than was planned; the schedule is for the samples that were.
  auto& most = assembly.allotment->max_samples;
  most = most == 0 ? budget : std::min<std::uint64_t>(most, budget);
  // Elsewhere a commit is not a round of everybody's batch: the budget is one of samples.
  assembly.allotment->by_samples = !assembly.method.planned() || assembly.method.local.steps > 1;
  const models::Schedule schedule(config, budget);
  const bool moves = assembly.method.sends == rules::Sends::moves;
  auto optimizer = moves ? models::make_outer_optimizer(assembly.method.outer, assembly.method.outer_momentum,
                                                        assembly.slots)
                         : models::make_optimizer(config.train, assembly.slots);
  if (!optimizer) return optimizer.error();
  GlobalModel::Options model_options{assembly.parameters, std::move(*optimizer), schedule,
                                     config.train.clip_norm};
  model_options.outer_lr = moves ? assembly.method.outer_lr : 0;
  model_options.compensation = make_compensation(assembly.method.merge, flat_size(assembly.slots));
  model_options.scratch = assembly.make_pool(1);
  model_options.tells_ledger = assembly.tells_ledger;
  auto global = GlobalModel::make(std::move(model_options), start, term);
  if (!global) return global.error();
  assembly.model = std::move(*global);
  return {};
}

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
