#include "actors/cluster_state.hpp"
#include "actors/middleman.hpp"
#include "actors/resumption.hpp"
#include "runtime/net/keys.hpp"

#include <thalweg/version.hpp>

#include <fmt/format.h>

#include <utility>

/// How a run is opened to others: nodes that join it, and browsers that look at it.
namespace thalweg {

using namespace actors;
namespace fs = std::filesystem;

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
  registry.begin = [this, prepared, note = listen.on_note](const rules::Placement& placement,
                                                           RegistrarHandle from,
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
  registry.status = [this](const RegistrarState& state) {
    return status_json(status, &state, board()->now());
  };
  if (http) registry.publish = [this](std::string json) { live.publish(std::move(json)); };
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

Result<std::string> Cluster::State::answer_browsers(std::function<std::string(const fs::path&)> timeline) {
  const auto at = net::parse_endpoint(config.http.listen);
  if (!at) return at.error();
  LiveEndpoint::Options options;
  options.status = &status;
  options.waits = [this] { return board() != nullptr ? board()->now() : std::vector<Wait>(); };
  if (timeline) {
    options.timeline = [timeline = std::move(timeline), path = folder->path()] { return timeline(path); };
  }
  live.begin(std::move(options));
  net::HttpServer::Options server;
  server.listen = *at;
  server.answer = [this](std::string_view path) { return live.answer(path); };
  auto opened = net::HttpServer::open(std::move(server));
  if (!opened) return opened.error();
  http = std::move(*opened);
  return http->local().text();
}

}  // namespace thalweg
