#pragma once

#include "actors/emulated_links.hpp"
#include "actors/live_endpoint.hpp"
#include "actors/node_post.hpp"
#include "actors/recorder.hpp"
#include "actors/registrar.hpp"
#include "actors/run_folder.hpp"
#include "actors/supervisor.hpp"
#include "actors/wait_board.hpp"
#include "runtime/net/http_server.hpp"

#include <thalweg/cluster.hpp>

#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

/// What a cluster is made of, and the order in which that goes: cluster.cpp begins and ends it,
/// cluster_endpoints.cpp opens it to nodes and browsers.
namespace thalweg {

struct Cluster::State {
  SteadyClock clock;
  std::unique_ptr<gpu::Device> device;
  std::unique_ptr<TaskPool> pool;
  std::optional<actors::RunFolder> folder;
  std::function<void(const RunEvent&)> on_event;
  bool nothing_left = false;  ///< a finished run was resumed: its folder stays as it is
  bool resumed = false;
  std::vector<Slot> slots;
  Config config;

  std::string failure;
  std::optional<Progressed> last_progress;
  actors::RunStatus status;                    // for whoever asks
  actors::LiveEndpoint live;                   // likewise, by HTTP
  std::unique_ptr<actors::Recorder> recorder;  // null: nothing is logged
  std::unique_ptr<actors::WaitBoard> waits;    // where there are other nodes and no recorder, which has one

  std::future<actors::Outcome> outcome;
  bool waited = false;

  // Last, so that the actors end before what they use.
  std::unique_ptr<actors::EmulatedLinks> links;  // null: messages go straight
  std::unique_ptr<actors::NodeContext> context;
  std::unique_ptr<caf::actor_system> system;
  net::Credentials credentials;            // where there are other nodes
  std::unique_ptr<actors::NodePost> post;  // null: all of the run is in this process
  std::mutex handles_mutex;  // of the two below: the registrar makes the first, and others use both
  actors::SupervisorHandle supervisor;        // null: the run waits for nodes
  actors::RegistrarHandle registrar;          // null: there are no other nodes
  std::unique_ptr<actors::Outsider> program;  // the cluster's own, as a sender of messages
  std::unique_ptr<net::HttpServer> http;      // null: nobody is answered

  /// Actors end before the pool and the device they use; the pool's tasks, and messages that are on their
  /// way, before the actor system they are for.
  ~State() {
    http.reset();
    {
      const std::lock_guard lock(handles_mutex);
      supervisor = actors::SupervisorHandle();
      registrar = actors::RegistrarHandle();
    }
    if (post) post->close();
    if (system) system->await_all_actors_done();
    post.reset();
    pool.reset();
    if (links) links->close();
  }

  /// `earlier`: the folder of the run to go on with; empty: a new run.
  static Result<Cluster> begin(const Config& wanted, ClusterOptions options,
                               std::optional<actors::RunFolder> earlier);
  actors::KeeperState::Options keeper_options();
  /// Where. Fails: as net::HttpServer::open.
  Result<std::string> answer_browsers(std::function<std::string(const std::filesystem::path&)> timeline);
  /// Takes nodes in, and starts the run when all are there. Fails: as Cluster::start.
  Status listen(const ListenOptions& listen, const std::string& run_id, actors::SupervisorState::Options run);
  Status go_on_from(actors::SupervisorState::Options& run, const actors::Holding* holding,
                    const std::function<void(const std::string&)>& note);
  /// Null: nobody looks at it.
  [[nodiscard]] actors::WaitBoard* board() { return recorder ? &recorder->board() : waits.get(); }
  void handle(const RunEvent& event);
  Status save(actors::Outcome& outcome);
};

}  // namespace thalweg
