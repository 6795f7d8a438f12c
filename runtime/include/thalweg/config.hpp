#pragma once

#include <thalweg/result.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// One training job, resolved: what a job file and the flags of `thalweg train` say, with every default
/// filled in. Each member is the key of the same name in the section of the same name.
namespace thalweg {

/// The shape of the tree below the root: either a number of workers, or children. `tree = [[2, 2], [4]]`
/// is a root with two leaders; the first leads two leaders of two workers, the second one of four.
struct TreeSpec {
  std::size_t workers = 0;         ///< workers right below this aggregator, when `children` is empty
  std::vector<TreeSpec> children;  ///< leaders right below this aggregator

  [[nodiscard]] std::size_t worker_count() const;
  [[nodiscard]] std::size_t leader_count() const;  ///< aggregators below this one
  [[nodiscard]] std::size_t depth() const;         ///< levels of aggregators, the root included
  [[nodiscard]] std::string text() const;          ///< as it is written in a job file
  friend bool operator==(const TreeSpec&, const TreeSpec&) = default;
};

struct Config {
  struct Run {
    std::string out;         ///< the run folder; empty: runs/NAME, or the next free runs/MODEL-N
    std::uint64_t seed = 1;  ///< decides initial weights, shuffles and everything else that is random
    std::string name;
    friend bool operator==(const Run&, const Run&) = default;
  } run;

  struct Model {
    std::string name = "lenet5";
    std::string init_from;                    ///< safetensors file with initial weights; empty: from the seed
    std::vector<std::size_t> hidden = {128};  ///< widths of the hidden layers of `mlp`
    friend bool operator==(const Model&, const Model&) = default;
  } model;

  struct Data {
    std::string name = "fashion_mnist";
    std::string dir;             ///< empty: where the data set's package puts it
    bool drop_last = false;      ///< drop the last, short round of an epoch
    std::size_t samples = 4096;  ///< synthetic only: training samples
    std::size_t classes = 10;    ///< synthetic only
    double noise = 0.5;          ///< synthetic only: standard deviation around a class's centre
    friend bool operator==(const Data&, const Data&) = default;
  } data;

  struct Train {
    std::size_t epochs = 1;
    std::size_t steps = 0;                  ///< rounds; when not 0 it replaces `epochs`
    std::vector<std::size_t> batch = {16};  ///< per worker: one number for all, or one each in worker order
    double lr = 0.05;
    std::string schedule = "constant";  ///< constant, step, cosine
    std::size_t warmup_steps = 0;       ///< rounds of linear warm-up
    std::vector<double> step_at = {0.5,
                                   0.75};  ///< schedule = "step": fractions of the run at which lr is cut
    double step_factor = 0.1;              ///< schedule = "step": what lr is multiplied by there
    std::string optimizer = "sgd";
    double momentum = 0.9;
    bool nesterov = false;
    double weight_decay = 0.0;
    std::vector<double> betas = {0.9, 0.999};  ///< adamw only
    double eps = 1e-8;                         ///< adamw only
    double clip_norm = 0;  ///< the mean gradient is scaled down to this norm where it is larger; 0: never
    friend bool operator==(const Train&, const Train&) = default;
  } train;

  struct Topology {
    std::size_t workers = 4;
    std::size_t groups = 1;  ///< leaders that share the workers evenly; 0: workers right below the root
    TreeSpec tree;           ///< resolved shape; a `tree` key replaces `workers` and `groups`
    friend bool operator==(const Topology&, const Topology&) = default;
  } topology;

  /// The method, and what overrides its parts: an empty text leaves a part as the method has it. Parts are
  /// written as names with their numbers: "stale(3)", "steps(8)".
  struct Sync {
    std::string method = "ssgd";     ///< "inhad(2)": a method with its number
    std::string local;               ///< steps(H), free(H_max): what a worker does before it contributes
    std::string pace;                ///< lockstep, reply, stale(s), one_behind, free
    std::string trigger;             ///< of the root: all, any, count(c), progress(c), quorum(q, grace_ms)
    std::string merge;               ///< mean, each
    std::string adopt;               ///< replace, keep_local, eager, mix(share)
    std::string staleness_scaling;   ///< none, inverse
    std::string compensation;        ///< of delay: none, constant, adaptive
    double compensation_lambda = 0;  ///< 0: 0.04 where constant, 2 where adaptive
    bool compensation_clamp = true;  ///< what is added to a gradient is at most the gradient itself
    std::string inner;               ///< workers' optimizer in local steps: sgd, adamw, train
    std::string outer;               ///< the root's for moves: sgd, nesterov
    double outer_lr = 0;             ///< 0: the method's
    double outer_momentum = 0.9;     ///< nesterov only
    std::string pull_when = "iterations";  ///< inhad: iterations, or groups(k, m)
    std::string pull_from = "all";         ///< inhad: all groups with something unpulled, or the fastest
    std::string parameters_to = "pulled";  ///< inhad: the pulled groups, or all
    std::size_t warmup_rounds = 0;         ///< in lockstep and with one step, before the method begins
    std::size_t min_workers = 1;           ///< with fewer left the run ends
    std::size_t offline_max = 64;          ///< local steps that workers go on with while no root is there
    double admit_within = 2.0;  ///< rounds that a newcomer's parameters may be behind when its work counts
    /// Trigger by level of the tree, the root's first; empty: the method's. `[sync.level.N]` in a job file.
    std::array<std::string, 4> level_triggers;
    friend bool operator==(const Sync&, const Sync&) = default;
  } sync;

  struct Balance {
    std::string by = "none";  ///< none, speed: batches in proportion to what each worker computes in a second
    std::size_t every = 20;   ///< commits between two cuts
    friend bool operator==(const Balance&, const Balance&) = default;
  } balance;

  struct Guard {
    double max_norm = 0;      ///< of a worker's mean gradient; larger ones are refused; 0: no bound
    std::size_t strikes = 3;  ///< refusals that were fine elsewhere cost a worker its place; so many rounds
                              ///< in a row with everything refused are a diverged run
    friend bool operator==(const Guard&, const Guard&) = default;
  } guard;

  struct Eval {
    std::size_t every = 1;    ///< epochs between evaluations; the last one is always made; 0: only the last
    std::string on = "test";  ///< test, train: which samples
    friend bool operator==(const Eval&, const Eval&) = default;
  } eval;

  struct Checkpoint {
    std::size_t every = 1000;  ///< commits between checkpoints; the last one is always made; 0: only the last
    std::size_t keep = 3;      ///< the newest ones that stay
    bool best = false;         ///< also keep the parameters with the best accuracy, as best.safetensors
    friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
  } checkpoint;

  /// Ends the run before its epochs or steps are done. Each is off at 0.
  struct Stop {
    std::chrono::milliseconds max_time{0};  ///< since the start, or since the resumption
    std::size_t max_samples = 0;            ///< committed, over the whole run
    double target_accuracy = 0;             ///< of an evaluation, 0..1
    friend bool operator==(const Stop&, const Stop&) = default;
  } stop;

  /// The message log in the run folder: what `thalweg log` reads.
  struct Log {
    std::string level = "headers";  ///< off; headers: every message without its vectors, and every decision
    std::size_t max_mb = 512;       ///< of each node; the oldest files go first
    friend bool operator==(const Log&, const Log&) = default;
  } log;

  /// The live endpoint, for browsers and Prometheus.
  struct Http {
    std::string listen;  ///< "127.0.0.1:0", port 0: any free one; empty: none
    friend bool operator==(const Http&, const Http&) = default;
  } http;

  /// How the nodes of a run that has several find each other and stay in touch.
  struct Net {
    std::string listen;  ///< "HOST:PORT" or "[IPV6]:PORT", port 0: any free one; empty: the node decides
    std::string join;    ///< where the root's node listens; empty: this is it
    std::string keys;    ///< folder with this node's keys, as `thalweg keys node` makes it
    std::chrono::milliseconds silence{2000};  ///< all bounds on silence derive from it
    std::size_t chunk_kib = 1024;             ///< payloads travel in pieces of at most this size
    std::size_t window = 0;     ///< bytes on their way on one connection, at most; 0: what it needs, measured
    std::size_t restarts = 10;  ///< of a node that ended without having been told to
    friend bool operator==(const Net&, const Net&) = default;
  } net;

  /// A machine's share of the workers. In a job file each has a block, [[node]].
  struct Node {
    std::string host;                             ///< name or address; empty: this machine
    std::size_t workers = 1;                      ///< that run there
    std::size_t group = 0;                        ///< the leader that they belong to
    std::vector<std::string> devices = {"host"};  ///< shared by its workers, in turn
    friend bool operator==(const Node&, const Node&) = default;
  };
  std::vector<Node> nodes;  ///< none: all workers run on this machine

  /// Stands for slower machines and links than there are; all that it touches is labelled "emulated".
  struct Emulate {
    std::chrono::milliseconds step{0};  ///< one step of `train.batch` samples at speed 1; 0: as fast as it is
    std::vector<std::pair<std::string, double>> slow;  ///< by worker, "w3": so many times slower
    double delay_ms = 0;                               ///< of links into the root, one way
    double rate_mbit = 0;                              ///< of the same, each way; 0: no bound
    [[nodiscard]] bool any() const {
      return step.count() > 0 || !slow.empty() || delay_ms > 0 || rate_mbit > 0;
    }
    friend bool operator==(const Emulate&, const Emulate&) = default;
  } emulate;

  /// Batch of worker `index`, in tree order; of one that comes later, the first one's.
  [[nodiscard]] std::size_t batch_of(std::size_t index) const {
    return index < train.batch.size() ? train.batch[index] : train.batch[0];
  }
  /// Sum of the batches of all workers.
  [[nodiscard]] std::size_t global_batch() const;
  friend bool operator==(const Config&, const Config&) = default;
};

/// A flag or `--set`: the key "section.key", the value as it would stand in the job file, and how to name it
/// in an error ("--workers").
struct Override {
  std::string key;
  std::string value;  ///< a bare word is a string, so that `--model mlp` needs no quotes
  std::string flag;   ///< "--workers"; "--set" or empty: errors say `--set section.key=value`
};

/// Reads a job file (empty path: none), applies `overrides`, resolves the tree and checks every number that
/// can be checked without the data.
/// Fails: `invalid`, naming file, line and key and what would be right (for an unknown key the nearest known
/// one); `not_found`; `io`.
/// Of two overrides of one key the later one counts. A flag also replaces what the file says in another way:
/// `--steps` the file's `epochs`, `--workers` a tree that only repeats the file's `workers` and `groups`.
Result<Config> load_config(const std::filesystem::path& file, const std::vector<Override>& overrides);

/// The same for a job file's text; `name` stands for the file in errors.
Result<Config> read_config(std::string_view text, const std::string& name);

/// Does for a Config made in code what load_config does for a job file: resolves the tree (a tree that is
/// there decides; otherwise `workers` and `groups` do) and checks every number.
/// Fails: `invalid`, naming the key and what would be right.
Result<Config> resolve_config(Config config);

/// The job file that says what `config` says, with a comment for each key. Reading it back gives `config`, if
/// it was resolved. The key `epochs` is commented out when `steps` replaces it.
std::string print_config(const Config& config);

}  // namespace thalweg
