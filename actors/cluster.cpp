#include "actors/emulated_links.hpp"
#include "actors/emulation.hpp"
#include "actors/middleman.hpp"
#include "actors/node_post.hpp"
#include "actors/recorder.hpp"
#include "actors/registrar.hpp"
#include "actors/resumption.hpp"
#include "actors/run_folder.hpp"
#include "actors/status_json.hpp"
#include "actors/supervisor.hpp"
#include "actors/wait_board.hpp"
#include "models/registry.hpp"
#include "models/safetensors.hpp"
#include "runtime/net/keys.hpp"

#include <thalweg/cluster.hpp>
#include <thalweg/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <limits>
#include <mutex>
#include <new>
#include <random>
#include <system_error>
#include <utility>

/// The public face of a run: puts an assembly, an actor system and a run folder together, and waits.
namespace thalweg {

using namespace actors;
namespace fs = std::filesystem;

struct Cluster::State {
  SteadyClock clock;
  std::unique_ptr<gpu::Device> device;
  std::unique_ptr<TaskPool> pool;
  std::optional<RunFolder> folder;
  std::function<void(const RunEvent&)> on_event;
  bool nothing_left = false;  ///< a finished run was resumed: its folder stays as it is
  bool resumed = false;
  std::vector<Slot> slots;
  Config config;

  std::string failure;
  std::optional<Progressed> last_progress;
  RunStatus status;                   // for whoever asks, where there are other nodes
  std::unique_ptr<Recorder> recorder;  // null: nothing is logged
  std::unique_ptr<WaitBoard> waits;    // where there are other nodes and no recorder, which has one

  std::future<Outcome> outcome;
  bool waited = false;

  // Last, so that the actors end before what they use.
  std::unique_ptr<EmulatedLinks> links;  // null: messages go straight
  std::unique_ptr<NodeContext> context;
  std::unique_ptr<caf::actor_system> system;
  net::Credentials credentials;       // where there are other nodes
  std::unique_ptr<NodePost> post;     // null: all of the run is in this process
  std::mutex handles_mutex;           // of the two below: the registrar makes the first, and others use both
  SupervisorHandle supervisor;        // null: the run waits for nodes
  RegistrarHandle registrar;          // null: there are no other nodes
  std::unique_ptr<Outsider> program;  // the cluster's own, as a sender of messages

  /// Actors end before the pool and the device they use; the pool's tasks, and messages that are on their
  /// way, before the actor system they are for.
  ~State() {
    {
      const std::lock_guard lock(handles_mutex);
      supervisor = SupervisorHandle();
      registrar = RegistrarHandle();
    }
    if (post) post->close();
    if (system) system->await_all_actors_done();
    post.reset();
    pool.reset();
    if (links) links->close();
  }

  /// `earlier`: the folder of the run to go on with; empty: a new run.
  static Result<Cluster> begin(const Config& wanted, ClusterOptions options,
                               std::optional<RunFolder> earlier);
  KeeperState::Options keeper_options();
  /// Takes nodes in, and starts the run when all are there. Fails: as Cluster::start.
  Status listen(const ListenOptions& listen, const std::string& run_id, SupervisorState::Options run);
  Status go_on_from(SupervisorState::Options& run, const Holding* holding,
                    const std::function<void(const std::string&)>& note);
  /// Null: nobody looks at it.
  [[nodiscard]] WaitBoard* board() { return recorder ? &recorder->board() : waits.get(); }
  void handle(const RunEvent& event);
  Status save(Outcome& outcome);
};

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
  const Incarnation incarnation{std::random_device()()};
  if (!state->nothing_left) {
    auto recorder = Recorder::open(config, state->clock,
                                   {state->folder->path() / "log", "root", run_id, {}, incarnation, term});
    if (!recorder) return recorder.error();
    state->recorder = std::move(*recorder);
  }
  if (options.listen) {
    if (!state->recorder) state->waits = std::make_unique<WaitBoard>(state->clock);
    state->status.begin(reporter.summary, term);
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

Status Cluster::State::listen(const ListenOptions& listen, const std::string& run_id,
                              SupervisorState::Options run) {
  const auto at = net::parse_endpoint(listen.address);
  if (!at) return at.error();
  auto token = net::read_token(listen.keys);
  if (!token) return token.error();

  NodePost::Options options;
  options.met = [](net::PeerId, bool) {};
  options.complaint = listen.on_note;
  options.parted = [this](net::PeerId peer, bool data, const std::string& why) {
    const std::lock_guard lock(handles_mutex);
    if (registrar) program->tell(registrar, Parted{peer, data, why});
  };
  post = std::make_unique<NodePost>(*context, *system, std::move(options));
  auto data = post->open_data(config, {at->host, credentials, run_id, flat_size(slots)});
  if (!data) return data.error();
  const auto port = publish(*system, post->postman(), *at);
  if (!port) return port.error();

  auto& assembly = run.assembly;
  RegistrarState::Options registry;
  registry.post = post.get();
  registry.placement = rules::Placement(assembly.tree, listen.workers);
  registry.admission = {run_id, context->term, print_config(config), std::move(*data)};
  registry.token = std::move(*token);
  registry.release = std::string(version());
  registry.model = model_hash(assembly);
  registry.silence = {config.net.silence};
  registry.first = assembly.first;
  registry.start = Version{assembly.first.value};
  registry.note = listen.on_note;
  // Kept by the registrar: when it ends before the run has begun, whoever waits for the run hears of it.
  auto prepared = std::make_shared<SupervisorState::Options>(std::move(run));
  registry.begin = [this, prepared, note = listen.on_note](const rules::Placement& placement, RegistrarHandle from,
                                                           const Holding* holding) -> SupervisorHandle {
    if (auto begun = go_on_from(*prepared, holding, note); !begun) {
      failure = begun.error().text;
      return {};
    }
    SupervisorState::Remote remote;
    remote.placement = placement;
    remote.member = [this](MemberId id) { return post->stand_ins().member(id); };
    remote.leader = [this](MemberId id) { return post->stand_in<AggregatorHandle>(address_of(id)); };
    remote.feeder = [this](NodeNumber node) { return post->feeder(node); };
    remote.registrar = std::move(from);
    remote.directory = &post->directory();
    prepared->remote = std::move(remote);
    const auto handle = spawn_role<SupervisorHandle, SupervisorState>(*system, std::move(*prepared));
    const std::lock_guard lock(handles_mutex);
    supervisor = handle;
    return handle;
  };
  registry.status = [this](const RegistrarState& state) { return status_json(status, state, board()->now()); };
  const auto handle = spawn_role<RegistrarHandle, RegistrarState>(*system, std::move(registry));
  {
    const std::lock_guard lock(handles_mutex);
    registrar = handle;
  }
  post->directory().register_actor(supervisor_at(context->node), handle);
  if (listen.on_listening) listen.on_listening(net::Endpoint{at->host, *port}.text());
  return {};
}

/// All nodes are there: the run begins where this process stands, or, with `holding`, where a node does.
Status Cluster::State::go_on_from(SupervisorState::Options& run, const Holding* holding,
                                  const std::function<void(const std::string&)>& note) {
  auto& assembly = run.assembly;
  if (holding != nullptr) {
    const auto own = assembly.model->snapshot();
    const auto start = snapshot_of(*holding, *own);
    if (auto begun = begin_at(assembly, start, context->term); !begun) return begun;
    run.reporter.start_samples = start.committed_samples;
    run.reporter.start_version = start.version;
    run.reporter.summary.resumed_from = start.version.value;
    if (note) note(fmt::format("goes on from version {}; {}", start.version.value, state_age(start, *own)));
  }
  return resumed ? folder->forget_after(assembly.first.value) : Status();
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
