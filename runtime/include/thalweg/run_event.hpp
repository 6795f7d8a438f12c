#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// What a cluster tells the program that started it, in order: `Started`, then `Progressed`, `Evaluated`,
/// `WorkerLost`, `WorkerJoined`, `RunPaused` and `Checkpointed` as training goes on, last `Ended`. The
/// reporter actor makes these from commit records.
namespace thalweg {

/// The actors stand and the first batch is about to be cut.
struct Started {
  std::size_t workers = 0;
  std::size_t leaders = 0;
  std::size_t parameters = 0;        ///< of the model, without padding
  std::uint64_t train_samples = 0;   ///< in the data set
  std::uint64_t budget_samples = 0;  ///< the run will commit
  double setup_s = 0;                ///< since Cluster::start was called, reading the data included
  double data_s = 0;                 ///< of which reading the data
  std::string tree;
  std::string device;            ///< what computes, in words; empty: unknown
  std::filesystem::path folder;  ///< the run folder
  std::string http;              ///< where the run answers browsers: "127.0.0.1:41234"; empty: nowhere
  /// Set when the run goes on from a checkpoint: its version, and in words what was not restored.
  std::optional<std::uint64_t> resumed_from;
  std::string not_restored;
  std::string warning;  ///< checkpoints that were put aside, and the like; empty: none
};

/// A row of metrics.csv: where training stands. Sent a few times a second, and at every end of an epoch.
struct Progressed {
  double wall_s = 0;  ///< since `Started`
  double epoch = 0;   ///< committed samples over samples per epoch
  std::uint64_t samples = 0;
  std::uint64_t version = 0;
  double loss = 0;               ///< mean training loss per sample since the last report
  double samples_per_s = 0;      ///< since the last report
  double staleness = 0;          ///< mean since the last report
  std::uint64_t bytes_up = 0;    ///< into the root, whole run
  std::uint64_t bytes_down = 0;  ///< out of the root, whole run
};

/// The test set was evaluated.
struct Evaluated {
  double wall_s = 0;
  double epoch = 0;
  std::uint64_t samples = 0;
  std::uint64_t version = 0;
  double loss = 0;      ///< mean per sample
  double accuracy = 0;  ///< 0..1
};

/// A worker is gone; the run goes on without it, or, when too few are left, ends.
struct WorkerLost {
  double wall_s = 0;
  std::string worker;  ///< "w3"
  std::string why;
  std::size_t workers_left = 0;
};

/// A worker has come while the run goes on; it takes part from now on.
struct WorkerJoined {
  double wall_s = 0;
  std::string worker;  ///< "w4"
  std::size_t workers = 0;
};

/// There are fewer workers than `sync.min_workers`: nothing more is given out until others have come. Or,
/// when `workers` is not below `wanted` any more, the run goes on.
struct RunPaused {
  double wall_s = 0;
  std::size_t workers = 0;  ///< there are
  std::size_t wanted = 0;
};

/// A checkpoint was written while training went on, or could not be; earlier ones are untouched then.
struct Checkpointed {
  double wall_s = 0;
  std::uint64_t version = 0;
  std::string failure;  ///< empty: it was written
};

/// What one worker did in a run.
struct WorkerSummary {
  std::string name;           ///< "w3"
  std::uint64_t samples = 0;  ///< committed
  std::uint64_t steps = 0;    ///< of which gradients were committed
  double compute_s = 0;       ///< time in them
};

/// The end of a run; also the content of summary.json.
struct Summary {
  std::string run;  ///< run id, 32 hex digits
  std::string method, model, data;
  std::uint64_t seed = 0;
  std::size_t workers = 0, groups = 0;
  std::string tree;
  double epochs = 0;
  std::uint64_t samples = 0, commits = 0;
  double wall_s = 0;      ///< from the first batch to the last commit
  double compute_s = 0;   ///< sum over workers of time spent in steps
  double busy_share = 0;  ///< compute_s / (workers x wall_s)
  /// samples_per_s over the sum of the workers' speeds alone. NaN (null in JSON): these are not known.
  double speed_share = std::numeric_limits<double>::quiet_NaN();
  double samples_per_s = 0;
  /// On the test set, last evaluation; accuracy 0..1. NaN (null in JSON): never evaluated.
  double loss = std::numeric_limits<double>::quiet_NaN();
  double accuracy = std::numeric_limits<double>::quiet_NaN();
  double staleness_mean = 0, staleness_p99 = 0, staleness_max = 0;
  std::vector<std::uint64_t> staleness_counts;      ///< iterations committed, by their age in versions
  std::vector<WorkerSummary> worker_summaries;      ///< in worker order
  std::vector<std::uint64_t> bytes_up, bytes_down;  ///< per level; 0 = into and out of the root
  std::uint64_t messages = 0;                       ///< handled by the run's actors
  std::uint64_t committed = 0, repeated = 0, quarantined = 0;  ///< the data ledger, in samples
  std::uint64_t refused = 0;
  bool emulated = false;
  std::string end = "done";  ///< done, stopped, diverged, failed
  std::string failure;       ///< why, when `end` is diverged or failed
  /// What ended it: data (all of the budget is settled), stop, max_time or target_accuracy; empty when it
  /// diverged or failed.
  std::string ended_by;
  /// Version it went on from; empty: none, it began anew. wall_s, compute_s, busy_share, samples_per_s,
  /// messages and bytes count from there.
  std::optional<std::uint64_t> resumed_from;
  double setup_s = 0, data_s = 0;
  /// Mean training loss per sample over the last report, a fraction of a second. NaN: nothing was reported.
  double train_loss = std::numeric_limits<double>::quiet_NaN();
  std::filesystem::path folder;
};

struct Ended {
  Summary summary;
};

using RunEvent =
    std::variant<Started, Progressed, Evaluated, Ended, WorkerLost, Checkpointed, WorkerJoined, RunPaused>;

}  // namespace thalweg
