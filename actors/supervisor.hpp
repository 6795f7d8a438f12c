#pragma once

#include "actors/assembly.hpp"
#include "actors/directory.hpp"
#include "actors/keeper.hpp"
#include "actors/reporter.hpp"
#include "actors/role.hpp"
#include "actors/rules/placement.hpp"
#include "actors/spawning.hpp"

#include <caf/actor_addr.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// The supervisor: one per node. Spawns the node's actors, wires them to each other, watches them, and ends
/// the run when the root is finished, when somebody cannot go on, or when the program asks. Before it the
/// cluster; after it everybody. Runs on the actor scheduler's threads.
///
///   start ──▶ running ── Finished | Failed | an actor gone ──▶ closing ── all Stopped ──▶ Closing to the
///   reporter
///                │                                               ▲
///                ├── Stop{after_round} ──▶ root ── Finished ─────┘
///                └── a worker is lost, and the method can go on ──▶ Left to the scheduler
namespace thalweg::actors {

class SupervisorState {
 public:
  /// Members that other nodes host.
  struct Remote {
    rules::Placement placement;
    std::function<MemberHandle(MemberId)> member;      ///< a stand-in for it
    std::function<AggregatorHandle(MemberId)> leader;  ///< likewise
    std::function<FeederHandle(NodeNumber)> feeder;    ///< likewise
    RegistrarHandle registrar;
    Directory* directory = nullptr;  ///< in which other nodes look for actors of this one; outlives them
  };
  struct Options {
    Assembly assembly;
    ReporterState::Options reporter;
    std::optional<KeeperState::Options> keeper;  ///< without actors; empty: no checkpoints while training
    std::optional<Remote> remote = {};           ///< empty: every member is here
    bool detach_reporter = true;                 ///< false: on the actor scheduler, for tests
  };

  explicit SupervisorState(RoleBase<SupervisorHandle>* self) : self_(self) {}
  SupervisorHandle::behavior_type start(Options options);

 private:
  void spawn_everything();
  [[nodiscard]] Spawning spawning();
  /// Spawns the aggregators and workers below `parent`, in tree order, and fills `roster`.
  void spawn_members(const TreeSpec& tree, std::size_t level, const AggregatorHandle& parent, Hello& hello,
                     std::size_t parent_index);
  AggregatorHandle spawn_aggregator(MemberId id, std::size_t level, const AggregatorHandle& parent,
                                    const std::string& parent_name, std::optional<Root::Options> root);
  template <class Handle>
  void watch(const std::string& name, const Handle& handle, std::optional<MemberId> worker = {});

  /// On which node a member is hosted; nothing: this one.
  [[nodiscard]] std::optional<NodeNumber> elsewhere(MemberId member) const;
  Hello::Feeder& feeder_of(NodeNumber node, Hello& hello);
  WorkerHandle spawn_worker(std::uint32_t number, MemberId parent, Compute compute);
  void add_worker(MemberId parent);

  void failed(const Failed& failed);
  void fail(const std::string& end, const std::string& why);
  void stop_everybody();
  void stopped(const Stopped& last_words);
  void gone(const caf::down_msg& down);
  void close_if_all_stopped();

  struct Watched {
    std::string name;
    caf::actor_addr address;
    std::function<void()> stop;
    std::optional<MemberId> worker;  ///< set when it is one
    bool running = true;
    bool said_goodbye = false;
  };

  RoleBase<SupervisorHandle>* self_;
  Options options_;
  ReporterHandle reporter_;
  KeeperHandle keeper_;
  SchedulerHandle scheduler_;
  FeederHandle feeder_;
  EvaluatorHandle evaluator_;
  AggregatorHandle root_;
  std::vector<Watched> watched_;
  std::uint32_t next_leader_ = 0;
  std::uint32_t next_worker_ = 0;
  std::map<MemberId, AggregatorHandle> aggregators_;
  std::map<NodeNumber, std::size_t> feeders_;  ///< of other nodes: place among the scheduler's

  bool stopping_ = false;
  bool closed_ = false;
  Closing closing_;
};

}  // namespace thalweg::actors
