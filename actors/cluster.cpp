#include "actors/run_folder.hpp"
#include "actors/supervisor.hpp"
#include "models/registry.hpp"
#include "models/safetensors.hpp"

#include <thalweg/cluster.hpp>

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <future>
#include <new>
#include <random>
#include <system_error>
#include <utility>

/// The public face of a run: puts an assembly, an actor system and a run folder together, and waits.
namespace thalweg {

using namespace actors;

struct Cluster::State {
  SteadyClock clock;
  std::unique_ptr<gpu::Device> device;
  std::unique_ptr<TaskPool> pool;
  std::optional<RunFolder> folder;
  std::function<void(const RunEvent&)> on_event;
  std::vector<Slot> slots;
  Config config;

  std::string failure;
  Progressed last_progress;

  std::future<Outcome> outcome;
  bool waited = false;

  // Last, so that the actors end before what they use.
  std::unique_ptr<NodeContext> context;
  std::unique_ptr<caf::actor_system> system;
  SupervisorHandle supervisor;
  ActorNumber number;  // the cluster's own, as a sender of messages
  std::atomic<std::uint64_t> sent{0};

  /// Actors end before the pool and the device they use, and the pool's tasks before the actor system they
  /// answer.
  ~State() {
    supervisor = SupervisorHandle();
    if (system) system->await_all_actors_done();
    pool.reset();
  }

  void handle(const RunEvent& event);
  Status save(const Outcome& outcome);
};

namespace {

std::string fresh_run_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

std::unique_ptr<NodeContext> make_context(const Clock& clock) {
  auto context = std::make_unique<NodeContext>(clock, nullptr);
  // Work stealing burns 15 % of a core while idle, sharing next to nothing; no actor computes, so two threads
  // do.
  context->set("scheduler.policy", caf::atom("sharing"));
  context->set("scheduler.max-threads", 2u);
  context->set("logger.verbosity", caf::atom("quiet"));
  return context;
}

Summary summary_at_start(const Config& config, const std::string& run_id, const RunFolder& folder) {
  Summary summary;
  summary.run = run_id;
  summary.method = config.sync.method;
  summary.model = config.model.name;
  summary.data = config.data.name;
  summary.seed = config.run.seed;
  summary.workers = config.topology.workers;
  summary.groups = config.topology.groups;
  summary.tree = config.topology.tree.text();
  summary.folder = folder.path();
  return summary;
}

std::map<std::string, std::string> checkpoint_metadata(const Config& config, const Snapshot& snapshot) {
  std::string ledger;
  for (const auto& range : snapshot.ledger) {
    ledger += fmt::format("{}{}:{}+{}", ledger.empty() ? "" : " ", range.epoch, range.begin, range.count);
  }
  return {{"schema", "1"},
          {"model", config.model.name},
          {"method", config.sync.method},
          {"seed", std::to_string(config.run.seed)},
          {"version", std::to_string(snapshot.version.value)},
          {"committed_samples", std::to_string(snapshot.committed_samples)},
          {"repeated_samples", std::to_string(snapshot.repeated_samples)},
          {"optimizer", config.train.optimizer},
          {"optimizer_steps", std::to_string(snapshot.optimizer_steps)},
          {"ledger", ledger}};
}

}  // namespace

Result<Cluster> Cluster::start(const Config& config, ClusterOptions options) {
  try {
    return start_unguarded(config, std::move(options));
  } catch (const std::system_error& error) {
    return Error{ErrorCode::failed,
                 fmt::format("cannot start the run's threads: {}: choose fewer workers, or raise "
                             "the limit on processes",
                             error.what())};
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::failed,
                 "not enough memory to start the run: choose fewer workers, a smaller model or "
                 "a smaller data set"};
  }
}

Result<Cluster> Cluster::start_unguarded(const Config& wanted, ClusterOptions options) {
  auto resolved = resolve_config(wanted);
  if (!resolved) return resolved.error();
  const Config& config = *resolved;
  auto state = std::make_unique<State>();
  const auto began = state->clock.now();
  state->config = config;
  state->on_event = std::move(options.on_event);

  auto data = models::load_dataset(config);
  if (!data) return data.error();
  const auto data_read = state->clock.now();
  state->device = gpu::open_host_device();
  state->pool = std::make_unique<TaskPool>();
  auto assembly = assemble(config, std::move(*data),
                           {state->device.get(), state->pool.get(), std::move(options.model), std::nullopt});
  if (!assembly) return assembly.error();
  const auto run_id = fresh_run_id();
  auto folder = RunFolder::create(config, run_id);
  if (!folder) return folder.error();
  state->folder = std::move(*folder);
  state->slots = assembly->slots;

  const auto& sampling = *assembly->sampling;
  ReporterState::Options reporter;
  reporter.summary = summary_at_start(config, run_id, *state->folder);
  reporter.samples_per_epoch = sampling.samples_before(sampling.rounds_per_epoch());
  reporter.rounds_per_epoch = sampling.rounds_per_epoch();
  reporter.on_event = [raw = state.get()](const RunEvent& event) { raw->handle(event); };
  // The reporter alone holds the promise: should it die, waiting ends with an error.
  auto outcome = std::make_shared<std::promise<Outcome>>();
  state->outcome = outcome->get_future();
  reporter.on_outcome = [outcome = std::move(outcome)](Outcome result) {
    outcome->set_value(std::move(result));
  };

  const auto device = state->device->info();
  Started started;
  started.workers = config.topology.workers;
  started.leaders = config.topology.tree.leader_count();
  started.parameters = parameter_count(state->slots);
  started.train_samples = assembly->data.train->size();
  started.budget_samples = sampling.samples_before(sampling.rounds());
  started.data_s = seconds(data_read - began);
  started.tree = config.topology.tree.text();
  started.device = fmt::format("{} ({})", device.name, device.library);
  started.folder = state->folder->path();
  started.setup_s = seconds(state->clock.now() - began);
  reporter.summary.data_s = started.data_s;
  reporter.summary.setup_s = started.setup_s;
  state->handle(started);

  state->context = make_context(state->clock);
  state->number = state->context->admit_actor();
  state->system = std::make_unique<caf::actor_system>(*state->context);
  state->supervisor = spawn_role<SupervisorHandle, SupervisorState>(
      *state->system, {std::move(*assembly), std::move(reporter), true});
  return Cluster(std::move(state));
}

void Cluster::State::handle(const RunEvent& event) {
  Status written;
  if (const auto* progressed = std::get_if<Progressed>(&event)) {
    last_progress = *progressed;
    written = folder->add_metrics(*progressed, nullptr);
  } else if (const auto* evaluated = std::get_if<Evaluated>(&event)) {
    auto row = last_progress;
    row.wall_s = evaluated->wall_s;
    row.epoch = evaluated->epoch;
    row.samples = evaluated->samples;
    row.version = evaluated->version;
    written = folder->add_metrics(row, evaluated);
  }
  if (!written && failure.empty()) failure = written.error().text;
  if (!on_event) return;
  try {
    on_event(event);
  } catch (const std::exception& error) {
    if (failure.empty()) failure = fmt::format("the program's event handler failed: {}", error.what());
  } catch (...) {
    if (failure.empty()) failure = "the program's event handler failed with an exception of its own";
  }
}

/// Saves what can be saved, also when something could not be, and says what went wrong first.
Status Cluster::State::save(const Outcome& result) {
  Status first;
  const auto note = [&](Status saved) {
    if (!saved && first.ok()) first = std::move(saved);
  };
  if (result.snapshot) {
    const auto& snapshot = *result.snapshot;
    auto tensors = models::tensors_of(slots, snapshot.parameters->host());
    note(folder->save_model(tensors));
    for (const auto& optimizer : snapshot.optimizer) {
      for (auto tensor : models::tensors_of(slots, optimizer.values)) {
        tensor.name = optimizer.name + models::state_separator + tensor.name;
        tensors.push_back(std::move(tensor));
      }
    }
    note(folder->save_checkpoint(snapshot.version.value, tensors, checkpoint_metadata(config, snapshot)));
  }
  note(folder->save_summary(result.summary));
  return first;
}

Result<Summary> Cluster::wait() {
  THALWEG_CHECK(!state_->waited, "wait is called once");
  state_->waited = true;
  Outcome outcome;
  try {
    outcome = state_->outcome.get();
  } catch (const std::future_error&) {
    return Error{ErrorCode::failed,
                 "the reporter was lost, and with it the end of the run: see the run folder"};
  }
  auto& summary = outcome.summary;
  if (!state_->failure.empty() && summary.failure.empty()) {
    summary.end = "failed";
    summary.failure = state_->failure;
  }
  const auto saved = state_->save(outcome);
  state_->handle(Ended{summary});
  if (summary.end == "diverged") return Error{ErrorCode::diverged, summary.failure};
  if (summary.end == "failed") return Error{ErrorCode::failed, summary.failure};
  if (!saved) return saved.error();
  return summary;
}

void Cluster::stop() {
  auto& state = *state_;
  const Stamp stamp{MessageId::make(state.context->node, state.number, ++state.sent),
                    {},
                    state.clock.wall_us() << 12,
                    state.context->term,
                    state.context->incarnation.value,
                    MessageKind::stop};
  caf::anon_send(state.supervisor, stamp, Stop{Stop::When::after_round});
}

Cluster::Cluster(std::unique_ptr<State> state) : state_(std::move(state)) {}
Cluster::Cluster(Cluster&&) noexcept = default;
Cluster& Cluster::operator=(Cluster&& other) noexcept {
  if (this != &other) {
    const Cluster ends_here(std::move(*this));
    state_ = std::move(other.state_);
  }
  return *this;
}
Cluster::~Cluster() {
  if (!state_ || state_->waited) return;
  stop();
  (void)wait();  // nobody is left to be told how it ended; the run folder says it
}

}  // namespace thalweg
