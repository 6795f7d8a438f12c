#pragma once

#include <thalweg/config.hpp>
#include <thalweg/model.hpp>
#include <thalweg/result.hpp>
#include <thalweg/run_event.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// A whole training run inside this process: the actors of one tree, their devices and the data. Several
/// clusters may live in one process; they share nothing.
namespace thalweg {

/// Where the workers of a run are on other machines, or in other processes: they come as Nodes (node.hpp).
struct ListenOptions {
  std::string address;         ///< "10.0.0.1:7000"; port 0: any free one
  std::filesystem::path keys;  ///< folder of the root's keys, as `thalweg keys node` makes it
  std::size_t workers = 0;     ///< of the job's, that this process hosts itself: the first ones
  /// Called once, when nodes can come: the address with its port. May be empty.
  std::function<void(const std::string& address)> on_listening;
  /// Lines for people: who comes, who is lost. On threads of the cluster's; may be empty.
  std::function<void(const std::string&)> on_note;
};

struct ClusterOptions {
  /// Own network instead of `config.model.name`; empty: the built-in network of that name.
  ModelFactory model;
  /// Called for every event, one at a time: `Started` on the thread that calls `start`, `Ended` on the one
  /// that calls `wait`, the others on one of the cluster's own threads; must not block for long and must not
  /// call back into the cluster except `stop`. May be empty.
  std::function<void(const RunEvent&)> on_event;
  /// Empty: all of the run is in this process.
  std::optional<ListenOptions> listen = {};
  /// Makes the page that `http.listen` shows as /timeline, from the run folder; on a thread of the cluster's.
  /// Empty: there is none.
  std::function<std::string(const std::filesystem::path& folder)> timeline = {};
};

class Cluster {
 public:
  /// Reads the data, takes the run folder (config.run.out), spawns the actors and starts training.
  /// Fails: `invalid` for a configuration that the data refuse; `not_found` and `corrupt` for data files;
  /// `mismatch` for weights of another model; `busy` for a run folder in use.
  static Result<Cluster> start(const Config& config, ClusterOptions options = {});

  /// Goes on with the run in `folder`, from its newest whole checkpoint (or, before the first one, from the
  /// start): parameters, optimizer, ledger and schedule are as they were; what is not is said in `Started`.
  /// `changes` may set how long to train and what is evaluated and kept (the sections eval, checkpoint and
  /// stop; train.epochs or train.steps; sync.min_workers; guard.*): everything else stays as the job says.
  /// Fails: `not_found` when no run has begun there; `invalid` for other changes; `busy` when it is still
  /// running; else as `start`.
  static Result<Cluster> resume(const std::filesystem::path& folder,
                                const std::vector<Override>& changes = {}, ClusterOptions options = {});

  Cluster(Cluster&&) noexcept;
  Cluster& operator=(Cluster&&) noexcept;
  /// Stops the run, as `stop` and `wait` do, unless it has ended.
  ~Cluster();

  /// Blocks until the run has ended and its files are written. Call it once.
  /// Fails: when a worker, a device or the disk did; what could be saved was.
  Result<Summary> wait();

  /// Asks the run to end after the round in flight, with a checkpoint. Any thread, any number of times;
  /// returns at once. Not for signal handlers.
  void stop();

 private:
  struct State;
  explicit Cluster(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace thalweg
