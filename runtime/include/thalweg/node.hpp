#pragma once

#include <thalweg/model.hpp>
#include <thalweg/result.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

/// A process that joins a run which another one started (Cluster, with `listen`), and hosts workers and
/// leaders for it. It has the run's data and model, but no say in the run: what it computes, the run's root
/// decides. When the root is lost, the node waits for it to come back.
namespace thalweg {

struct NodeOptions {
  std::string join;            ///< where the run's root listens: "host:7000", "[::1]:7000"
  std::size_t workers = 1;     ///< that this node offers
  std::string group;           ///< "g1": only in this group; empty: wherever a worker is wanted
  std::filesystem::path keys;  ///< folder of this node's keys, as `thalweg keys node` makes it
  /// The address that others reach this node at, with or without a port: "10.0.0.7", "10.0.0.7:7001". Empty:
  /// an address of this machine that the root could see, and a free port.
  std::string listen;
  std::string name;            ///< for logs; empty: host-pid
  std::filesystem::path log;   ///< folder for this node's message log; empty: none is written
  std::filesystem::path data;  ///< where the data set is on this machine; empty: where the job says
  /// How long a lost root is looked for, at the same address. Meanwhile the node keeps the newest version
  /// that it has, and offers it to the root that comes back; 0: it ends at once.
  std::chrono::seconds rejoin_for{60};
  ModelFactory model;  ///< own network, as the root's; empty: the built-in one that the job names
  /// Lines for people: joined as what, lost, going again. On a thread of the node's; may be empty.
  std::function<void(const std::string&)> on_note;
};

class Node {
 public:
  /// Finds the root, asks to be let in, and begins to work. Blocks until it has been admitted.
  /// Fails: `not_found` for keys that are not there; `invalid` for options; `failed` when the root cannot be
  /// reached, with each address and why, or refuses this node, with its reason.
  static Result<Node> join(NodeOptions options);

  Node(Node&&) noexcept;
  Node& operator=(Node&&) noexcept;
  /// Leaves the run, as `stop` and `wait` do, unless it has ended.
  ~Node();

  /// Blocks until the run has ended or this node has left it. Call it once.
  /// Fails: `unreachable` when the root was lost and did not come back; `failed` when it has shut this node
  /// out.
  Status wait();

  /// Asks to leave: what is being computed is finished and handed over. Any thread; returns at once.
  void stop();

 private:
  struct State;
  explicit Node(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace thalweg
