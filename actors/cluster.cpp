#include "actors/cluster_state.hpp"
#include "actors/emulation.hpp"
#include "actors/middleman.hpp"
#include "actors/resumption.hpp"
#include "models/registry.hpp"
#include "models/safetensors.hpp"
#include "runtime/net/keys.hpp"

#include <thalweg/cluster.hpp>
#include <thalweg/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <limits>
#include <new>
#include <random>
#include <system_error>
#include <utility>

/// The public face of a run: puts an assembly, an actor system and a run folder together, and waits.
namespace thalweg {

using namespace actors;
namespace fs = std::filesystem;

namespace {

std::string fresh_run_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
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
  summary.emulated = config.emulate.any();
  return summary;
}

CheckpointFile best_file(const Config& config, std::span<const Slot> slots, const Best& best) {
  return {models::tensors_of(slots, best.parameters->host()),
          {{"schema", "1"},
           {"model", config.model.name},
           {"version", std::to_string(best.version.value)},
           {"committed_samples", std::to_string(best.committed_samples)},
           {"accuracy", fmt::format("{:.6f}", best.accuracy)}}};
}

template <class Start>
Result<Cluster> guarded(const Start& start) {
  try {
    return start();
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

}  // namespace

Result<Cluster> Cluster::start(const Config& config, ClusterOptions options) {
  return guarded([&] { return State::begin(config, std::move(options), {}); });
}

Result<Cluster> Cluster::resume(const fs::path& folder, const std::vector<Override>& changes,
                                ClusterOptions options) {
  for (const auto& change : changes) {
    if (auto allowed = check_change(change); !allowed) return allowed.error();
  }
  return guarded([&]() -> Result<Cluster> {
    // Its lock is looked at first: the job of a run that is going on may be changing.
    auto opened = RunFolder::reopen(folder);
    if (!opened) return opened.error();
    auto config = load_config(folder / "job.toml", changes);
    if (!config) return config.error();
    config->run.out = folder.string();
    return State::begin(*config, std::move(options), std::move(*opened));
  });
}

Result<Cluster> Cluster::State::begin(const Config& wanted, ClusterOptions options,
                                      std::optional<RunFolder> earlier) {
  auto resolved = resolve_config(wanted);
  if (!resolved) return resolved.error();
  Config config = std::move(*resolved);
  auto state = std::make_unique<State>();
  const auto began = state->clock.now();
  state->on_event = std::move(options.on_event);

  auto data = models::load_dataset(config);
  if (!data) return data.error();
  // A run may be gone on with from another folder.
  if (!config.data.dir.empty()) config.data.dir = fs::absolute(config.data.dir).string();
  state->config = config;
  const auto data_read = state->clock.now();
  state->device = gpu::open_host_device();
  state->pool = std::make_unique<TaskPool>();
  AssemblyOptions parts{state->device.get(), state->pool.get(), std::move(options.model), std::nullopt, {}};
  if (options.listen) {
    if (config.emulate.delay_ms > 0 || config.emulate.rate_mbit > 0) {
      return Error{ErrorCode::invalid,
                   "emulate.delay_ms, emulate.rate_mbit: links between processes are not emulated: train in "
                   "one process, or leave them out"};
    }
    parts.workers = options.listen->workers;
  }
  std::string warning;
  if (earlier) {
    parts.restore = [&](std::span<const Slot> layout, gpu::BufferPool& parameters) {
      return newest_snapshot(*earlier, config, layout, parameters, warning);
    };
  }
  const std::uint32_t term = earlier ? earlier->term() + 1 : 1;
  parts.term = term;
  parts.clock = &state->clock;
  parts.tells_ledger = options.listen.has_value();
  auto assembly = assemble(config, std::move(*data), std::move(parts));
  if (!assembly) return assembly.error();
  const auto start_version = assembly->first.value;
  state->nothing_left = earlier && rules::Allotment(*assembly->allotment).done();
  if (state->nothing_left) warning += "Nothing is left to train: the folder stays as it is.";
  const bool resumed = state->resumed = earlier.has_value();
  auto run_id = resumed ? earlier->run_id() : "";
  if (run_id.empty()) run_id = fresh_run_id();
  if (resumed && !state->nothing_left) {
    // A node may hold a newer version than the checkpoint: what metrics say of it stays until that is known.
    const auto known = options.listen ? std::numeric_limits<std::uint64_t>::max() : start_version;
    if (auto ready = earlier->go_on(config, run_id, known); !ready) return ready.error();
    assembly->best_accuracy = best_accuracy(earlier->path());
  }
  auto folder = resumed ? Result<RunFolder>(std::move(*earlier)) : RunFolder::create(config, run_id);
  if (!folder) return folder.error();
  state->folder = std::move(*folder);
  state->slots = assembly->slots;

  const Incarnation incarnation{std::random_device()()};
  if (!state->nothing_left) {
    auto recorder = Recorder::open(config, state->clock,
                                   {state->folder->path() / "log", "root", run_id, {}, incarnation, term});
    if (!recorder) return recorder.error();
    state->recorder = std::move(*recorder);
  }
  if (!state->recorder && (options.listen || !config.http.listen.empty())) {
    state->waits = std::make_unique<WaitBoard>(state->clock);
  }
  const auto& sampling = *assembly->sampling;
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
  if (config.emulate.any()) started.device += fmt::format(" (emulated: {})", emulation_text(config));
  started.folder = state->folder->path();
  if (resumed) {
    started.resumed_from = start_version;
    started.not_restored = not_restored(assembly->method);
    started.warning = warning;
  }
  state->status.begin(summary_at_start(config, run_id, *state->folder), term);
  if (!config.http.listen.empty()) {
    auto answering = state->answer_browsers(std::move(options.timeline));
    if (!answering) return answering.error();
    started.http = *answering;
  }
  started.setup_s = seconds(state->clock.now() - began);

  ReporterState::Options reporter;
  reporter.summary = summary_at_start(config, run_id, *state->folder);
  reporter.summary.data_s = started.data_s;
  reporter.summary.setup_s = started.setup_s;
  reporter.summary.resumed_from = started.resumed_from;
  reporter.samples_per_epoch = sampling.samples_used_per_epoch();
  reporter.start_samples = assembly->start_samples;
  reporter.start_version = Version{start_version};
  reporter.speed_alone = speed_alone(config);
  reporter.on_event = [raw = state.get()](const RunEvent& event) { raw->handle(event); };
  // The reporter alone holds the promise: should it die, waiting ends with an error.
  auto outcome = std::make_shared<std::promise<Outcome>>();
  state->outcome = outcome->get_future();
  reporter.on_outcome = [outcome = std::move(outcome)](Outcome result) {
    outcome->set_value(std::move(result));
  };
  state->handle(started);

  if (config.emulate.delay_ms > 0 || config.emulate.rate_mbit > 0) {
    state->links = std::make_unique<EmulatedLinks>(state->clock, link_options(config));
  }
  state->context = make_node_context(state->clock, state->board(), state->links.get());
  state->context->term = term;
  state->context->incarnation = incarnation;
  if (options.listen) {
    const auto found = net::find_credentials(options.listen->keys);
    if (!found) return found.error();
    state->credentials = *found;
    const Silence silence{config.net.silence};
    if (auto loaded = load_middleman(*state->context, state->credentials, {silence.heartbeat()}); !loaded) {
      return loaded.error();
    }
  }
  state->program = std::make_unique<Outsider>(*state->context);
  state->system = std::make_unique<caf::actor_system>(*state->context);
  SupervisorState::Options run{std::move(*assembly),
                               std::move(reporter),
                               state->nothing_left ? std::nullopt : std::optional(state->keeper_options()),
                               {},
                               true};
  if (options.listen && !state->nothing_left) {
    if (auto listening = state->listen(*options.listen, run_id, std::move(run)); !listening) {
      return listening.error();
    }
  } else {
    state->supervisor = spawn_role<SupervisorHandle, SupervisorState>(*state->system, std::move(run));
  }
  return Cluster(std::move(state));
}

KeeperState::Options Cluster::State::keeper_options() {
  KeeperState::Options keeper;
  keeper.save = [this](const Snapshot& snapshot) {
    return folder->save_checkpoint(snapshot.version.value, checkpoint_of(config, slots, snapshot),
                                   config.checkpoint.keep);
  };
  keeper.save_best = [this](const Best& best) { return folder->save_best(best_file(config, slots, best)); };
  return keeper;
}

void Cluster::State::handle(const RunEvent& event) {
  status.hear(event);
  Status written;
  if (nothing_left) {
    // What the folder says of the run is still right.
  } else if (const auto* progressed = std::get_if<Progressed>(&event)) {
    last_progress = *progressed;
    written = folder->add_metrics(*progressed, nullptr);
  } else if (const auto* evaluated = std::get_if<Evaluated>(&event)) {
    // The training loss is that of the version evaluated, or none.
    auto row = last_progress.value_or(Progressed{});
    if (!last_progress || row.version != evaluated->version)
      row.loss = std::numeric_limits<double>::quiet_NaN();
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
Status Cluster::State::save(Outcome& result) {
  Status first;
  if (nothing_left) return first;
  const auto note = [&](Status saved) {
    if (!saved && first.ok()) first = std::move(saved);
  };
  if (result.snapshot) {
    const auto& snapshot = *result.snapshot;
    note(folder->save_model(models::tensors_of(slots, snapshot.parameters->host())));
    // The step in which a run diverged has spoilt the optimizer's state: the last checkpoint stays the last.
    if (snapshot.whole) {
      note(folder->save_checkpoint(snapshot.version.value, checkpoint_of(config, slots, snapshot),
                                   config.checkpoint.keep));
    }
  }
  if (!first && result.summary.failure.empty()) {
    result.summary.end = "failed";
    result.summary.failure = first.error().text;
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
    const bool waited = state_->post && !state_->supervisor;
    if (waited && !state_->failure.empty()) return Error{ErrorCode::failed, state_->failure};
    return Error{ErrorCode::failed,
                 waited ? "the run has not begun: it was ended while it waited for nodes"
                        : "the reporter was lost, and with it the end of the run: see the run folder"};
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
  const std::lock_guard lock(state.handles_mutex);
  if (state.supervisor) return state.program->tell(state.supervisor, Stop{Stop::When::after_round});
  if (state.registrar) state.program->tell(state.registrar, Stop{Stop::When::now});
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
