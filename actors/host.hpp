#pragma once

#include "actors/assembly.hpp"
#include "actors/held_version.hpp"
#include "actors/node_post.hpp"
#include "actors/role.hpp"
#include "actors/spawning.hpp"
#include "actors/wait_board.hpp"
#include "runtime/time/silence.hpp"

#include <caf/actor_addr.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// The host: on a node that has joined a run, it asks to be let in, spawns what the registrar tells it to
/// host, watches it, and ends it. Before it the run's registrar (actors/registrar.hpp); after it the node's
/// feeder, workers and leaders. Runs on the actor scheduler's threads; data and model are made on a thread of
/// their own.
///
///   start ── the root is met ──▶ applying ── Admit ──▶ assembling ──▶ ready ── Host ──▶ at work
///                                   │ Refuse              Dismiss: some members go ◀──────┤
///                                   ▼                                                     │
///                                 ended ◀── all have stopped ◀── stopping ◀── Stop, or the root is lost
namespace thalweg::actors {

class HostState {
 public:
  struct Options {
    NodePost* post = nullptr;  ///< outlives the actor
    Apply application;
    std::chrono::milliseconds patience{};  ///< for the root's first word
    TaskPool* pool = nullptr;
    HeldVersion* held = nullptr;       ///< of this node; outlives the actor
    const WaitBoard* waits = nullptr;  ///< likewise
    /// Reads data and makes the model: on a thread of its own.
    std::function<Assembled(const Admit&)> assemble;
    /// Opens the data plane; where it is reached. Fails: as NodePost::open_data.
    std::function<Result<std::vector<std::string>>(const Admit&, const Assembly&)> open_data;
    std::function<void(const Admit&)> admitted;    ///< once
    std::function<void(const std::string&)> note;  ///< a line for people
    std::function<void(Status)> ended;             ///< once, last of all; `unreachable`: the root is lost
    std::function<void(std::function<void()>)> in_thread;  ///< runs it on a thread of its own
  };

  explicit HostState(RoleBase<HostHandle>* self) : self_(self) {}
  HostHandle::behavior_type start(Options options);

 private:
  struct Member {
    MemberHandle handle;
    caf::actor_addr address;
    bool stopping = false;
  };
  /// A Host message whose neighbours are not all reached yet.
  struct Pending {
    Host host;
    std::set<net::PeerId> control, data;  ///< yet to be reached
  };

  void admitted(const Admit& admit);
  void met(const Met& met);
  void fetch(Version version);
  void send_held_if_reached();
  void parted(const Parted& parted);
  void assembled(const Assembled& assembled);
  void host(const Host& message);
  void connect(const Host::Node& node, bool dials, Pending& pending);
  void set_up_what_is_reached();
  void set_up(const Host& message);
  [[nodiscard]] Spawning spawning();
  void spawn_feeder(Round first);
  [[nodiscard]] AggregatorHandle parent_of(const rules::Placement::Seat& seat);
  void spawn_leader(const rules::Placement::Seat& seat, std::size_t level);
  void spawn_worker(const rules::Placement::Seat& seat);
  template <class Handle>
  void watch(MemberId id, const Handle& handle);
  void dismiss(const Dismiss& dismissed);
  void gone(const caf::down_msg& down);
  void tick();
  void end(Status why);
  void quit_if_all_stopped();
  void say(const std::string& line) const;

  RoleBase<HostHandle>* self_;
  std::optional<Options> options_;
  std::optional<net::PeerId> root_;
  RegistrarHandle registrar_;  ///< a stand-in, as the next two
  SchedulerHandle scheduler_;
  AggregatorHandle root_handle_;
  std::optional<Admit> admission_;
  std::shared_ptr<Assembly> assembly_;
  std::map<MemberId, std::size_t> levels_;  ///< of leaders, as far as this node was told
  std::map<MemberId, AggregatorHandle> leaders_;
  std::map<MemberId, Member> members_;
  FeederHandle feeder_;
  caf::actor_addr feeder_address_;
  std::set<net::PeerId> reached_, connected_;  ///< by control, by data
  std::vector<Pending> pending_;
  std::optional<Version> fetched_;    ///< the root has asked for it, and cannot be sent it yet
  std::chrono::nanoseconds heard_{};  ///< the root, last
  std::chrono::nanoseconds began_{};
  Silence silence_;
  std::uint64_t beats_ = 0;
  bool ready_ = false;
  bool stopping_ = false;
  bool feeder_running_ = false;
  std::optional<Status> outcome_;
};

}  // namespace thalweg::actors
