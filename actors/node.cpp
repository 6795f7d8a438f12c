#include "actors/assembly.hpp"
#include "actors/held_version.hpp"
#include "actors/host.hpp"
#include "actors/middleman.hpp"
#include "actors/node_post.hpp"
#include "actors/recorder.hpp"
#include "actors/wait_board.hpp"
#include "gpu/device.hpp"
#include "models/registry.hpp"
#include "runtime/net/addresses.hpp"
#include "runtime/net/keys.hpp"

#include <thalweg/node.hpp>
#include <thalweg/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <future>
#include <mutex>
#include <random>
#include <thread>
#include <unistd.h>
#include <utility>

/// The public face of a node that joins a run: puts its devices, an actor system and the way to the root
/// together, and waits.
namespace thalweg {

using namespace actors;

namespace {

/// From one try to reach a lost root to the next.
constexpr std::chrono::milliseconds rejoin_every{500};

/// A node from being let in to losing its root: what it has of actors and connections.
struct Life {
  const NodeOptions& options;  ///< of the node, as the next
  HeldVersion& held;
  SteadyClock clock;
  std::unique_ptr<gpu::Device> device;
  std::unique_ptr<TaskPool> pool;
  net::Credentials credentials;
  std::mutex threads_mutex;
  std::vector<std::thread> threads;  // that make data and model
  std::promise<Status> outcome;
  std::future<Status> ended = outcome.get_future();
  std::promise<Status> admission;
  std::unique_ptr<Recorder> recorder;  // null: nothing is logged
  WaitBoard waits{clock};              // in its place then
  [[nodiscard]] WaitBoard& board() { return recorder ? recorder->board() : waits; }

  // Last, so that the actors end before what they use.
  std::unique_ptr<NodeContext> context;
  std::unique_ptr<caf::actor_system> system;
  std::unique_ptr<NodePost> post;
  std::mutex handle_mutex;
  HostHandle host;
  std::unique_ptr<Outsider> program;  // this node's own, as a sender of messages

  Life(const NodeOptions& node_options, HeldVersion& node_held) : options(node_options), held(node_held) {}
  /// Blocks until it is let in. Fails: as Node::join.
  static Result<std::unique_ptr<Life>> begin(const NodeOptions& options, HeldVersion& held);
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;
  ~Life() {
    {
      const std::lock_guard lock(handle_mutex);
      host = HostHandle();
    }
    for (auto& thread : threads) thread.join();
    if (post) post->close();
    if (system) system->await_all_actors_done();
    post.reset();
    pool.reset();
  }

  template <class Body>
  void tell(Body body) {
    const std::lock_guard lock(handle_mutex);
    if (host) program->tell(host, std::move(body));
  }
  void note(const std::string& line) const {
    if (options.on_note) options.on_note(line);
  }

  Assembled assemble(const Admit& admit) const;
  Result<std::vector<std::string>> open_data(const Admit& admit, const Assembly& assembly) const;
  HostState::Options host_options(Apply application);
};

Result<std::optional<MemberId>> group_of(const std::string& text) {
  if (text.empty()) return std::optional<MemberId>();
  std::uint32_t number = 0;
  const bool digits =
      text.size() > 1 && text.size() < 7 && text[0] == 'g' &&
      std::all_of(text.begin() + 1, text.end(), [](char each) { return each >= '0' && each <= '9'; });
  if (!digits) return Error{ErrorCode::invalid, "\"" + text + "\" is no group: groups are g0, g1, ..."};
  for (const char digit : text.substr(1)) number = number * 10 + static_cast<std::uint32_t>(digit - '0');
  return std::optional(leader_id(number));
}

/// "10.0.0.7" and "10.0.0.7:7001" alike.
Result<net::Endpoint> listen_endpoint(const std::string& text) {
  if (text.empty()) return net::Endpoint{"0.0.0.0", 0};
  if (auto whole = net::parse_endpoint(text)) return whole;
  return net::parse_endpoint((text.find(':') == std::string::npos ? text : "[" + text + "]") + ":0");
}

Assembled Life::assemble(const Admit& admit) const {
  Assembled made;
  const auto fail = [&](const Error& error) {
    made.failure = error.text;
    return made;
  };
  auto config = read_config(admit.job, "the run's job");
  if (!config) return fail(config.error());
  if (!options.data.empty()) config->data.dir = options.data.string();
  auto data = models::load_dataset(*config);
  if (!data) return fail(data.error());
  AssemblyOptions parts{device.get(), pool.get(), options.model, std::nullopt, {}};
  parts.workers = 0;
  parts.term = admit.term;
  parts.clock = &clock;
  auto assembly = actors::assemble(*config, std::move(*data), std::move(parts));
  if (!assembly) return fail(assembly.error());
  made.assembly = std::make_shared<Assembly>(std::move(*assembly));
  return made;
}

Result<std::vector<std::string>> Life::open_data(const Admit& admit, const Assembly& assembly) const {
  const auto at = listen_endpoint(options.listen);
  if (!at) return at.error();
  return post->open_data(assembly.config, {at->host, credentials, admit.run, flat_size(assembly.slots)});
}

HostState::Options Life::host_options(Apply application) {
  HostState::Options host_options;
  host_options.post = post.get();
  host_options.application = std::move(application);
  host_options.patience = std::chrono::seconds(20);
  host_options.pool = pool.get();
  host_options.held = &held;
  host_options.waits = &board();
  host_options.assemble = [this](const Admit& admit) { return assemble(admit); };
  host_options.open_data = [this](const Admit& admit, const Assembly& assembly) {
    return open_data(admit, assembly);
  };
  host_options.admitted = [this](const Admit& admit) {
    context->term = admit.term;
    note(fmt::format("joined run {} as n{}", admit.run.substr(0, 8), context->node.value));
    admission.set_value({});
  };
  host_options.note = [this](const std::string& line) { note(line); };
  host_options.ended = [this](Status status) { outcome.set_value(std::move(status)); };
  host_options.in_thread = [this](std::function<void()> work) {
    const std::lock_guard lock(threads_mutex);
    threads.emplace_back(std::move(work));
  };
  return host_options;
}

Result<std::unique_ptr<Life>> Life::begin(const NodeOptions& options, HeldVersion& held) {
  const auto root = net::parse_endpoint(options.join);
  if (!root) return root.error();
  const auto group = group_of(options.group);
  if (!group) return group.error();
  const auto listen = listen_endpoint(options.listen);
  if (!listen) return listen.error();
  auto credentials = net::find_credentials(options.keys);
  if (!credentials) return credentials.error();
  auto token = net::read_token(options.keys);
  if (!token) return token.error();

  auto life = std::make_unique<Life>(options, held);
  life->credentials = *credentials;
  life->device = gpu::open_host_device();
  life->pool = std::make_unique<TaskPool>();
  std::random_device random;
  // Not given out by the root, which only sees to it that no number is there twice in a run: a node's first
  // message carries it already.
  const NodeNumber number{static_cast<std::uint16_t>(1 + random() % 0xffff)};
  const Incarnation incarnation{random()};
  const auto name = options.name.empty() ? fmt::format("{}-{}", net::host_name(), ::getpid()) : options.name;
  if (!options.log.empty()) {
    auto recorder = Recorder::open({}, life->clock, {options.log, name, held.run(), number, incarnation});
    if (!recorder) return recorder.error();
    life->recorder = std::move(*recorder);
  }
  life->context = make_node_context(life->clock, &life->board());
  life->context->node = number;
  life->context->incarnation = incarnation;
  if (auto loaded = load_middleman(*life->context, life->credentials); !loaded) return loaded.error();
  life->program = std::make_unique<Outsider>(*life->context);
  life->system = std::make_unique<caf::actor_system>(*life->context);

  NodePost::Options post;
  post.met = [raw = life.get()](net::PeerId peer, bool data) { raw->tell(Met{peer, data}); };
  post.parted = [raw = life.get()](net::PeerId peer, bool data, const std::string& why) {
    raw->tell(Parted{peer, data, why});
  };
  post.complaint = [raw = life.get()](const std::string& text) { raw->note(text); };
  post.parameters = [&held](const Parameters& parameters) { held.offer(parameters); };
  life->post = std::make_unique<NodePost>(*life->context, *life->system, std::move(post));
  const auto port = publish(*life->system, life->post->postman(), *listen);
  if (!port) return port.error();

  Apply application;
  application.release = std::string(version());
  application.token = std::move(*token);
  application.name = name;
  application.workers = options.workers;
  application.group = *group;
  application.control = advertised(listen->host, *port);
  application.run = held.run();
  if (const auto newest = held.newest()) application.held = newest->version();
  auto admitted = life->admission.get_future();
  const auto host =
      spawn_role<HostHandle, HostState>(*life->system, life->host_options(std::move(application)));
  {
    const std::lock_guard lock(life->handle_mutex);
    life->host = host;
  }
  life->post->directory().register_actor(supervisor_at(life->context->node), host);
  dial(*life->system, life->post->postman(), {*root}, std::chrono::seconds(5),
       [raw = life.get()](const Error& error) { raw->tell(Refuse{"the run's root: " + error.text}); });
  // Either it is let in, or its host has ended.
  using namespace std::chrono_literals;
  while (admitted.wait_for(20ms) != std::future_status::ready) {
    if (life->ended.wait_for(0ms) != std::future_status::ready) continue;
    const Status status = life->ended.get();
    return status.ok() ? Error{ErrorCode::failed, "stopped before it was let in"} : status.error();
  }
  return life;
}

}  // namespace

/// One life after the other, until the run is over or its root stays away. All of it on one thread: an actor
/// system waits for ever when it ends on another one than it began on, for that one's hold of its logger.
struct Node::State {
  NodeOptions options;
  HeldVersion held;
  std::promise<Status> outcome;
  std::future<Status> ended = outcome.get_future();
  bool waited = false;
  std::mutex mutex;
  std::condition_variable stopped;
  bool stopping = false;
  std::unique_ptr<Life> life;
  std::thread thread;

  ~State() {
    if (thread.joinable()) thread.join();
  }

  void run(std::promise<Status> joined) {
    auto first = Life::begin(options, held);
    if (!first) return joined.set_value(first.error());
    {
      const std::lock_guard lock(mutex);
      life = std::move(*first);
    }
    joined.set_value({});
    Status status = live();
    while (!status.ok() && status.error().code == ErrorCode::unreachable && look_for_root(status)) {
      status = live();
    }
    outcome.set_value(std::move(status));
  }

  /// Until the present life ends, which it then is for good.
  Status live() {
    Status status = life->ended.get();
    std::unique_ptr<Life> over;
    const std::lock_guard lock(mutex);
    std::swap(over, life);
    return status;
  }

  /// Whether there is a new life. Otherwise `status` says how the last one ended, or why there is none.
  bool look_for_root(Status& status) {
    if (options.rejoin_for.count() == 0) return false;
    note(fmt::format("{}: looking for it for {} s", status.error().text, options.rejoin_for.count()));
    const std::string lost = status.error().text;
    const SteadyClock clock;
    for (const auto until = clock.now() + options.rejoin_for; clock.now() < until;) {
      {
        std::unique_lock lock(mutex);
        if (stopped.wait_for(lock, rejoin_every, [this] { return stopping; })) {
          status = {};
          return false;
        }
      }
      auto next = Life::begin(options, held);
      const std::lock_guard lock(mutex);
      if (next) {
        life = std::move(*next);
        if (stopping) life->tell(Stop{Stop::When::now});
        return true;
      }
      status = Error{ErrorCode::unreachable, fmt::format("{}, and did not come back within {} s: {}", lost,
                                                         options.rejoin_for.count(), next.error().text)};
    }
    return false;
  }

  void note(const std::string& line) const {
    if (options.on_note) options.on_note(line);
  }
};

Result<Node> Node::join(NodeOptions wanted) {
  if (wanted.workers == 0) return Error{ErrorCode::invalid, "a node offers at least one worker"};
  auto state = std::make_unique<State>();
  state->options = std::move(wanted);
  std::promise<Status> promise;
  auto joined = promise.get_future();
  state->thread = std::thread(
      [raw = state.get(), promise = std::move(promise)]() mutable { raw->run(std::move(promise)); });
  if (auto status = joined.get(); !status) return status.error();
  return Node(std::move(state));
}

Status Node::wait() {
  THALWEG_CHECK(!state_->waited, "wait is called once");
  state_->waited = true;
  return state_->ended.get();
}

void Node::stop() {
  const std::lock_guard lock(state_->mutex);
  state_->stopping = true;
  state_->stopped.notify_all();
  if (state_->life) state_->life->tell(Stop{Stop::When::now});
}

Node::Node(std::unique_ptr<State> state) : state_(std::move(state)) {}
Node::Node(Node&&) noexcept = default;
Node& Node::operator=(Node&& other) noexcept {
  if (this != &other) {
    const Node ends_here(std::move(*this));
    state_ = std::move(other.state_);
  }
  return *this;
}
Node::~Node() {
  if (!state_ || state_->waited) return;
  stop();
  (void)wait();  // nobody is left to be told how it ended
}

}  // namespace thalweg
