#pragma once

#include "actors/node_post.hpp"
#include "actors/role.hpp"
#include "actors/rules/placement.hpp"
#include "runtime/time/silence.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// The registrar: beside the root, where a run has other nodes. It lets nodes in, says which members each
/// hosts, notices which are dead, and has their places taken by others. Before it the nodes' hosts
/// (actors/host.hpp); after it the root's supervisor. Runs on the actor scheduler's threads.
///
/// Where a lost root's run goes on, nodes may hold newer versions than the root's own checkpoint: the newest
/// one is fetched before the run begins, once every seat is taken.
///
///   a node:  Apply ──▶ admitted ── Ready ──▶ ready ── Host ──▶ hosting ── Hosted ──▶ at work
///                │ Refuse                      (when every seat is taken, or at once while the run goes on)
///                └── silent for too long, its connection cut, Leave ──▶ gone: fenced, its members replaced
namespace thalweg::actors {

class RegistrarState {
 public:
  struct Options {
    NodePost* post = nullptr;  ///< outlives the actor
    rules::Placement placement;
    Admit admission;  ///< that every node is sent
    std::string token = {};
    std::string release = {};
    std::uint64_t model = 0;  ///< hash that a node's must equal
    Silence silence = {};
    Round first = {};
    Version start = {};  ///< that this process can go on from by itself
    /// All seats are taken: spawns the root and all that is around it. With a `Holding` it goes on from that
    /// version. Null: it cannot, and the run ends.
    std::function<SupervisorHandle(const rules::Placement&, RegistrarHandle, const Holding*)> begin = {};
    std::function<std::string(const RegistrarState&)> status = {};  ///< of the run, as a JSON object
    std::function<void(std::string)> publish = {};      ///< takes it a few times a second; empty: nobody does
    std::function<void(const std::string&)> note = {};  ///< a line for people; must not block
  };

  explicit RegistrarState(RoleBase<RegistrarHandle>* self) : self_(self) {}
  RegistrarHandle::behavior_type start(Options options);

  struct Guest {
    net::PeerId peer;
    HostHandle host;  ///< a stand-in
    std::string name;
    std::uint64_t workers = 0;
    std::optional<MemberId> group;
    std::vector<std::string> control, data = {};
    std::optional<Version> held = {};  ///< of this run, that it had before
    bool ready = false;
    bool stopped = false;
    std::chrono::nanoseconds heard{};
    std::vector<Wait> waits = {};  ///< of its actors, as it said last
  };

  // What `Options::status` is made of; on the actor's own thread.
  [[nodiscard]] const std::map<NodeNumber, Guest>& guests() const { return guests_; }
  [[nodiscard]] const rules::Placement& placement() const { return options_->placement; }
  [[nodiscard]] bool training() const { return static_cast<bool>(supervisor_) && !stopping_; }
  [[nodiscard]] std::chrono::nanoseconds now() const { return self_->clock().now(); }

 private:
  /// Seats that are to be taken, and who has yet to say that all is set up.
  struct Hosting {
    std::vector<rules::Placement::Seat> seats;
    std::set<NodeNumber> awaited;
  };

  void apply(const Stamp& stamp, const Apply& application);
  void ready(Guest& guest, const Ready& message);
  void hosted(const Guest& guest, std::uint64_t number);
  void parted(const Parted& parted);
  void check_silence();
  void lose(NodeNumber node, const std::string& why);
  void begin_if_complete();
  bool fetch_newest();
  void take_held(const Guest& guest, const Holding& holding);
  void begin_again(std::vector<MemberId> before);
  void answer(const Stamp& stamp, const Inquire& inquiry);
  void host(std::vector<rules::Placement::Seat> seats);
  void set_to_work(const Hosting& hosting);
  void set_to_work_who_stands();
  void stop();
  void quit_if_all_stopped();
  [[nodiscard]] Guest* guest_of(const Stamp& stamp);
  [[nodiscard]] std::vector<Host::Node> nodes() const;
  void say(const std::string& line) const;

  RoleBase<RegistrarHandle>* self_;
  std::optional<Options> options_;
  SupervisorHandle supervisor_;
  std::map<NodeNumber, Guest> guests_;
  std::set<NodeNumber> numbers_;  ///< that were ever used in this run
  std::map<std::uint64_t, Hosting> hosting_;
  std::uint64_t hostings_ = 0;
  std::uint64_t beats_ = 0;
  std::optional<NodeNumber> fetching_;  ///< from whom what it holds was asked for
  std::optional<Holding> holding_;      ///< from which the run is to go on
  bool stopping_ = false;
  std::chrono::nanoseconds stop_at_{};  ///< who has not stopped by then is not waited for
};

}  // namespace thalweg::actors
