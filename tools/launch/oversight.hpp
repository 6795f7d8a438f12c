#pragma once

#include "tools/launch/process.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Decides what happens when one of a run's processes ends, and in which order all of them do. Pure: it is
/// told what happened and when, and says what to do; the launcher does it.
///
///                 root listens            root ends by itself,        all have ended
///     starting ───────────────▶ running ─────────────────────▶ closing ───────────▶ done
///        ▲                         │       stop: it is asked      nodes end by themselves,
///        └─────────────────────────┘       to, then killed        are asked to, are killed
///           root killed by a signal:
///           it is started again
namespace thalweg::launch {

/// 0 is the root, 1 the first node.
using Member = std::size_t;

/// What to do: first the lines, then the signals, then the starts.
struct Orders {
  std::vector<std::string> lines;               ///< for people
  std::vector<std::pair<Member, int>> signals;  ///< to processes that run
  std::vector<Member> starts;

  friend bool operator==(const Orders&, const Orders&) = default;
};

struct OversightOptions {
  std::vector<std::string> nodes = {};  ///< their names
  std::size_t restarts = 10;            ///< of each process
  std::string logs = {};                ///< where people read what a node wrote
  std::chrono::seconds root_patience{
      60};  ///< from asking the root to end to killing it: a round, a checkpoint
  std::chrono::seconds node_patience{10};  ///< likewise for nodes; and from the root's end to asking them
  std::chrono::seconds well_after{60};     ///< a process that ran so long is as good as new
};

class Oversight {
 public:
  using Time = std::chrono::nanoseconds;

  explicit Oversight(OversightOptions options);

  Orders begin(Time now);
  /// The root listens. Once for each of its starts.
  Orders listens(Time now);
  /// A process that was started has ended, or could not be started (process 0).
  Orders ended(Time now, Member member, pid_t process, Ending how);
  /// Somebody wants the run to end: the first time with its checkpoint, the second time at once.
  Orders stop(Time now, int signal);
  /// Time has passed; called no later than `next`.
  Orders pass(Time now);

  /// When something is due.
  [[nodiscard]] std::optional<Time> next() const;
  /// Nothing runs, and nothing will.
  [[nodiscard]] bool done() const;
  /// The root's; of a run that was stopped, what names the signal; 1 when this gave up. Requires: done().
  [[nodiscard]] int exit_code() const;

 private:
  enum class State { idle, runs, waits, over };
  struct Process {
    std::string name;
    State state = State::idle;
    Time since{0};             ///< runs: since when; waits: until when
    std::size_t restarts = 0;  ///< all of them
    std::size_t in_a_row = 0;  ///< of which since it last ran well
  };
  enum class Phase { starting, running, stopping, closing };

  void start(Orders& orders, Time now, Member member);
  void start_nodes(Orders& orders, Time now);
  void root_ended(Orders& orders, Time now, const std::string& what, Ending how);
  void node_ended(Orders& orders, Time now, Member node, const std::string& what, Ending how);
  bool restart(Orders& orders, Time now, Member member, const std::string& what);
  void give_up(Orders& orders, Time now);
  void end_root(Orders& orders, Time now);
  void close(Orders& orders, Time now, std::chrono::seconds grace);
  void due(Orders& orders, Time now);
  void signal_running(Orders& orders, int signal) const;
  [[nodiscard]] Process& root() { return processes_.front(); }

  const OversightOptions options_;
  std::vector<Process> processes_;
  Phase phase_ = Phase::starting;
  std::optional<Time> deadline_;  ///< stopping: the root is killed; closing: the next step towards the nodes
  bool nodes_asked_ = false;
  bool was_listening_ = false;  ///< so there is a run to go on with
  bool gave_up_ = false;
  int stop_signal_ = 0;
  bool at_once_ = false;
  Ending root_end_;
};

}  // namespace thalweg::launch
