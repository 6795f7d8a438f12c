#include "runtime/config/schema.hpp"

#include "runtime/time/silence.hpp"

#include <algorithm>
#include <limits>

namespace thalweg::config {
namespace {

// Limits that keep every product of counts within 64 bits: rounds x workers x batch, epochs x samples.
constexpr std::uint64_t rounds_max = 1'000'000'000;
constexpr std::uint64_t batch_max = 1'000'000;
constexpr std::uint64_t width_max = 1'000'000;
constexpr std::uint64_t samples_max =
    std::numeric_limits<std::uint32_t>::max();  // indices are stored in 32 bits
constexpr std::uint64_t samples_total_max = 1'000'000'000'000'000'000;
constexpr std::uint64_t seed_max = std::numeric_limits<std::int64_t>::max();  // TOML's integers end there

// A frame holds at most 1 MiB (runtime/wire), and chunks that are much smaller are all headers.
constexpr std::uint64_t chunk_kib_min = 4;
constexpr std::uint64_t chunk_kib_max = 1024;
constexpr std::uint64_t window_max = std::uint64_t{1} << 34;

constexpr std::uint64_t log_mb_min = 4, log_mb_max = std::uint64_t{1} << 20;
constexpr std::string_view log_levels[] = {"off", "headers"};
constexpr std::string_view schedules[] = {"constant", "step", "cosine"};
constexpr std::string_view optimizers[] = {"sgd", "adamw"};
constexpr std::string_view scalings[] = {"", "none", "inverse"};
constexpr std::string_view compensations[] = {"", "none", "constant", "adaptive"};
constexpr std::string_view merges[] = {"", "mean", "each"};
constexpr std::string_view inners[] = {"", "sgd", "adamw", "train"};
constexpr std::string_view outers[] = {"", "sgd", "nesterov"};
constexpr std::string_view sources[] = {"all", "fastest"};
constexpr std::string_view receivers[] = {"pulled", "all"};
constexpr std::string_view balances[] = {"none", "speed"};
constexpr std::string_view evaluated[] = {"test", "train"};

const Key table[] = {
    {"run", "out", "The run folder; empty: runs/NAME, or the next free runs/MODEL-N.",
     [](Config& c) -> Field { return &c.run.out; }},
    {"run",
     "seed",
     "Decides initial weights, shuffles and everything else that is random.",
     [](Config& c) -> Field { return &c.run.seed; },
     {Counts{0, seed_max}}},
    {"run",
     "name",
     "Name of the run and, when out is empty, of its folder below runs/.",
     [](Config& c) -> Field { return &c.run.name; },
     {Text{.one_folder = true}}},

    {"model",
     "name",
     "The network, as lenet5 or mlp.",
     [](Config& c) -> Field { return &c.model.name; },
     {Text{.may_be_empty = false}}},
    {"model", "init_from", "Safetensors file with the initial weights; empty: they come from the seed.",
     [](Config& c) -> Field { return &c.model.init_from; }},
    {"model",
     "hidden",
     "Widths of the hidden layers; mlp only.",
     [](Config& c) -> Field { return &c.model.hidden; },
     {Counts{1, width_max}}},

    {"data",
     "name",
     "The data set, as fashion_mnist or synthetic.",
     [](Config& c) -> Field { return &c.data.name; },
     {Text{.may_be_empty = false}}},
    {"data", "dir", "Folder of its files; empty: where the data set's package puts them.",
     [](Config& c) -> Field { return &c.data.dir; }},
    {"data", "drop_last", "Drop the last, short round of an epoch.",
     [](Config& c) -> Field { return &c.data.drop_last; }},
    {"data",
     "samples",
     "Training samples to make; synthetic only.",
     [](Config& c) -> Field { return &c.data.samples; },
     {Counts{1, samples_max}}},
    {"data",
     "classes",
     "Classes to make; synthetic only.",
     [](Config& c) -> Field { return &c.data.classes; },
     {Counts{2, width_max}}},
    {"data",
     "noise",
     "Standard deviation of the samples around their class's centre; synthetic only.",
     [](Config& c) -> Field { return &c.data.noise; },
     {Reals{}}},

    {"train",
     "epochs",
     "Passes over the training samples; steps can be given instead.",
     [](Config& c) -> Field { return &c.train.epochs; },
     {Counts{1, rounds_max}}},
    {"train",
     "steps",
     "Rounds; 0: as many as the epochs take.",
     [](Config& c) -> Field { return &c.train.steps; },
     {Counts{0, rounds_max}}},
    {"train",
     "batch",
     "Samples per worker and round: one number for all workers, or an array with one for each.",
     [](Config& c) -> Field { return &c.train.batch; },
     {Counts{1, batch_max}, true}},
    {"train", "lr", "Learning rate.", [](Config& c) -> Field { return &c.train.lr; }, {Reals{}}},
    {"train",
     "schedule",
     "How the learning rate changes over the run: constant, step or cosine.",
     [](Config& c) -> Field { return &c.train.schedule; },
     {Names{schedules}}},
    {"train",
     "warmup_steps",
     "Rounds over which the learning rate rises from 0 at the start.",
     [](Config& c) -> Field { return &c.train.warmup_steps; },
     {Counts{0, rounds_max}}},
    {"train",
     "step_at",
     "Fractions of the run at which schedule = \"step\" cuts the learning rate.",
     [](Config& c) -> Field { return &c.train.step_at; },
     {Reals{.high = 1, .above_low = true, .below_high = true}}},
    {"train",
     "step_factor",
     "What the learning rate is multiplied by there.",
     [](Config& c) -> Field { return &c.train.step_factor; },
     {Reals{.high = 1, .above_low = true}}},
    {"train",
     "optimizer",
     "The root's update rule: sgd or adamw.",
     [](Config& c) -> Field { return &c.train.optimizer; },
     {Names{optimizers}}},
    {"train",
     "momentum",
     "Share of the last move that goes on; 0: none; sgd only.",
     [](Config& c) -> Field { return &c.train.momentum; },
     {Reals{.high = 1, .below_high = true}}},
    {"train", "nesterov", "Nesterov's form of momentum; sgd only.",
     [](Config& c) -> Field { return &c.train.nesterov; }},
    {"train",
     "weight_decay",
     "L2 penalty on the weights; with adamw decoupled from the gradient.",
     [](Config& c) -> Field { return &c.train.weight_decay; },
     {Reals{}}},
    {"train",
     "betas",
     "Shares of the gradient's and of its square's running means that go on; adamw only.",
     [](Config& c) -> Field { return &c.train.betas; },
     {Reals{.high = 1, .below_high = true}}},
    {"train",
     "eps",
     "Added to the root of the mean square; adamw only.",
     [](Config& c) -> Field { return &c.train.eps; },
     {Reals{.low = 1e-30}}},
    {"train",
     "clip_norm",
     "Scale the mean gradient down to this norm where it is larger; 0: never.",
     [](Config& c) -> Field { return &c.train.clip_norm; },
     {Reals{}}},

    {"topology",
     "workers",
     "Workers in the tree.",
     [](Config& c) -> Field { return &c.topology.workers; },
     {Counts{1, workers_max}}},
    {"topology",
     "groups",
     "Leaders below the root; 0: the workers are right below it.",
     [](Config& c) -> Field { return &c.topology.groups; },
     {Counts{0, workers_max}}},
    {"topology", "tree", "The tree's shape: an array is a list of leaders, a number the workers below one.",
     [](Config& c) -> Field { return &c.topology.tree; }},

    {"sync",
     "method",
     "How the workers are kept in step, with its number where it has one, as inhad(2).",
     [](Config& c) -> Field { return &c.sync.method; },
     {Calls{known_methods(), false}}},
    {"sync",
     "local",
     "What a worker does before it contributes: steps(H), or free(H_max); empty: as the method does.",
     [](Config& c) -> Field { return &c.sync.local; },
     {Calls{known_locals()}}},
    {"sync",
     "pace",
     "When a worker may go on: lockstep, reply, stale(s), one_behind or free; empty: as the method does.",
     [](Config& c) -> Field { return &c.sync.pace; },
     {Calls{known_paces()}}},
    {"sync",
     "trigger",
     "When the root closes a round: all, any, count(c), progress(c) or quorum(q, grace_ms); empty: as the "
     "method does.",
     [](Config& c) -> Field { return &c.sync.trigger; },
     {Calls{known_root_triggers()}}},
    {"sync",
     "merge",
     "What a round does to the parameters: mean, or each contribution at once; empty: as the method does.",
     [](Config& c) -> Field { return &c.sync.merge; },
     {Names{merges}}},
    {"sync",
     "adopt",
     "What a worker does with new parameters: replace, keep_local, eager or mix(share); empty: as the method "
     "does.",
     [](Config& c) -> Field { return &c.sync.adopt; },
     {Calls{known_adopts()}}},
    {"sync",
     "staleness_scaling",
     "Weigh a gradient by its age in versions: none or inverse; empty: as the method does.",
     [](Config& c) -> Field { return &c.sync.staleness_scaling; },
     {Names{scalings}}},
    {"sync",
     "compensation",
     "Of a gradient's delay: none, constant or adaptive; empty: as the method does.",
     [](Config& c) -> Field { return &c.sync.compensation; },
     {Names{compensations}}},
    {"sync",
     "compensation_lambda",
     "Its strength; 0: 0.04 where constant, 2 where adaptive.",
     [](Config& c) -> Field { return &c.sync.compensation_lambda; },
     {Reals{}}},
    {"sync", "compensation_clamp", "What it adds to a gradient is at most the gradient itself.",
     [](Config& c) -> Field { return &c.sync.compensation_clamp; }},
    {"sync",
     "inner",
     "The workers' optimizer in local steps: sgd, adamw, or what [train] says; empty: as the method does.",
     [](Config& c) -> Field { return &c.sync.inner; },
     {Names{inners}}},
    {"sync",
     "outer",
     "The root's optimizer for moves: sgd or nesterov; empty: as the method does.",
     [](Config& c) -> Field { return &c.sync.outer; },
     {Names{outers}}},
    {"sync",
     "outer_lr",
     "Its learning rate; 0: as the method does.",
     [](Config& c) -> Field { return &c.sync.outer_lr; },
     {Reals{}}},
    {"sync",
     "outer_momentum",
     "Its momentum; nesterov only.",
     [](Config& c) -> Field { return &c.sync.outer_momentum; },
     {Reals{.high = 1, .below_high = true}}},
    {"sync",
     "pull_when",
     "inhad pulls when enough iterations are unpulled, or groups(k, m): k groups with m each.",
     [](Config& c) -> Field { return &c.sync.pull_when; },
     {Calls{known_pulls(), false}}},
    {"sync",
     "pull_from",
     "inhad pulls from all groups that have something, or from the fastest that make up enough.",
     [](Config& c) -> Field { return &c.sync.pull_from; },
     {Names{sources}}},
    {"sync",
     "parameters_to",
     "inhad sends new parameters to the pulled groups, or to all.",
     [](Config& c) -> Field { return &c.sync.parameters_to; },
     {Names{receivers}}},
    {"sync",
     "warmup_rounds",
     "Rounds in lockstep, of one step each, before the method begins.",
     [](Config& c) -> Field { return &c.sync.warmup_rounds; },
     {Counts{0, rounds_max}}},
    {"sync",
     "min_workers",
     "When fewer workers are left, the run ends.",
     [](Config& c) -> Field { return &c.sync.min_workers; },
     {Counts{1, workers_max}}},

    {"sync",
     "offline_max",
     "Local steps that workers go on with while the root is away; in lockstep they wait instead.",
     [](Config& c) -> Field { return &c.sync.offline_max; },
     {Counts{0, rounds_max}}},
    {"sync",
     "admit_within",
     "Rounds that a newcomer's parameters may be behind when its contributions begin to count.",
     [](Config& c) -> Field { return &c.sync.admit_within; },
     {Reals{.low = 1}}},

    {"sync.level.0",
     "trigger",
     "When aggregators on this level of the tree (0: the root) close a round, as trigger above; leaders (1 "
     "to 3) "
     "also forward or pulled.",
     [](Config& c) -> Field { return &c.sync.level_triggers[0]; },
     {Calls{known_root_triggers()}},
     true},
    {"sync.level.1",
     "trigger",
     "",
     [](Config& c) -> Field { return &c.sync.level_triggers[1]; },
     {Calls{known_leader_triggers()}},
     true},
    {"sync.level.2",
     "trigger",
     "",
     [](Config& c) -> Field { return &c.sync.level_triggers[2]; },
     {Calls{known_leader_triggers()}},
     true},
    {"sync.level.3",
     "trigger",
     "",
     [](Config& c) -> Field { return &c.sync.level_triggers[3]; },
     {Calls{known_leader_triggers()}},
     true},

    {"balance",
     "by",
     "How the samples of a round are shared: none, as train.batch says; speed, by what each worker computes.",
     [](Config& c) -> Field { return &c.balance.by; },
     {Names{balances}}},
    {"balance",
     "every",
     "Commits between two cuts.",
     [](Config& c) -> Field { return &c.balance.every; },
     {Counts{1, rounds_max}}},

    {"guard",
     "max_norm",
     "Refuse a worker's gradient (mean over its samples) with a larger norm; 0: no bound.",
     [](Config& c) -> Field { return &c.guard.max_norm; },
     {Reals{}}},
    {"guard",
     "strikes",
     "A worker goes after so many refused gradients that were fine elsewhere; a run, after so many rounds "
     "without any.",
     [](Config& c) -> Field { return &c.guard.strikes; },
     {Counts{1, rounds_max}}},

    {"eval",
     "every",
     "Epochs between evaluations; 0: only at the end.",
     [](Config& c) -> Field { return &c.eval.every; },
     {Counts{0, rounds_max}}},
    {"eval",
     "on",
     "Which samples to evaluate on: test or train.",
     [](Config& c) -> Field { return &c.eval.on; },
     {Names{evaluated}}},

    {"checkpoint",
     "every",
     "Commits between checkpoints; 0: only at the end.",
     [](Config& c) -> Field { return &c.checkpoint.every; },
     {Counts{0, rounds_max}}},
    {"checkpoint",
     "keep",
     "How many of the newest checkpoints stay.",
     [](Config& c) -> Field { return &c.checkpoint.keep; },
     {Counts{1, rounds_max}}},
    {"checkpoint", "best", "Also keep the parameters with the best accuracy, as best.safetensors.",
     [](Config& c) -> Field { return &c.checkpoint.best; }},

    {"stop", "max_time", "End the run after this time, as \"90s\" or \"1.5h\"; \"0s\": no limit.",
     [](Config& c) -> Field { return &c.stop.max_time; }},
    {"stop",
     "max_samples",
     "End the run when so many samples are committed; 0: no limit.",
     [](Config& c) -> Field { return &c.stop.max_samples; },
     {Counts{0, samples_total_max}}},
    {"stop",
     "target_accuracy",
     "End the run when an evaluation reaches this accuracy (0 to 1); 0: no such end.",
     [](Config& c) -> Field { return &c.stop.target_accuracy; },
     {Reals{.high = 1}}},

    {"log",
     "level",
     "What goes into the message log: off or headers.",
     [](Config& c) -> Field { return &c.log.level; },
     {Names{log_levels}}},
    {"log",
     "max_mb",
     "Megabytes of message log that each node keeps; the oldest go first.",
     [](Config& c) -> Field { return &c.log.max_mb; },
     {Counts{log_mb_min, log_mb_max}}},

    {"http",
     "listen",
     "Where the run answers browsers and Prometheus, as \"127.0.0.1:0\", port 0: any free one; empty: "
     "nowhere.",
     [](Config& c) -> Field { return &c.http.listen; },
     {Address{}}},

    {"net",
     "listen",
     "Where a node listens, as \"HOST:PORT\" or \"[IPV6]:PORT\", port 0: any free one; empty: it finds a "
     "place.",
     [](Config& c) -> Field { return &c.net.listen; },
     {Address{}}},
    {"net",
     "join",
     "Where the root's node listens; empty: this node is the root's.",
     [](Config& c) -> Field { return &c.net.join; },
     {Address{.any_port = false}}},
    {"net", "keys", "Folder with the node's keys, as thalweg keys makes them.",
     [](Config& c) -> Field { return &c.net.keys; }},
    {"net",
     "silence",
     "How long a node may be silent: all bounds derive from it, and thalweg doctor shows them.",
     [](Config& c) -> Field { return &c.net.silence; },
     {Durations{Silence::tolerance_min}}},
    {"net",
     "chunk_kib",
     "Gradients and parameters travel in pieces of at most this size.",
     [](Config& c) -> Field { return &c.net.chunk_kib; },
     {Counts{chunk_kib_min, chunk_kib_max}}},
    {"net",
     "window",
     "Bytes on their way on one connection, at most; 0: what it needs, measured.",
     [](Config& c) -> Field { return &c.net.window; },
     {Counts{0, window_max}}},
    {"net",
     "restarts",
     "How often a node that ended by itself is started again.",
     [](Config& c) -> Field { return &c.net.restarts; },
     {Counts{0, rounds_max}}},

    {"emulate", "step", "Length of a step of train.batch samples at speed 1, as \"10ms\"; \"0s\": as it is.",
     [](Config& c) -> Field { return &c.emulate.step; }},
    {"emulate",
     "slow",
     "By worker how many times slower it is, as { w3 = 4.0 }.",
     [](Config& c) -> Field { return &c.emulate.slow; },
     {Reals{.above_low = true}}},
    {"emulate",
     "delay_ms",
     "One-way delay of the links into the root.",
     [](Config& c) -> Field { return &c.emulate.delay_ms; },
     {Reals{.high = 3'600'000}}},
    {"emulate",
     "rate_mbit",
     "Rate of the same links, each way; 0: no bound.",
     [](Config& c) -> Field { return &c.emulate.rate_mbit; },
     {Reals{}}},
};

}  // namespace

std::string Key::text() const { return std::string(section) + "." + std::string(name); }

std::span<const Key> all_keys() { return table; }

const Key* find_key(std::string_view section, std::string_view name) {
  const auto* found = std::find_if(std::begin(table), std::end(table), [&](const Key& key) {
    return key.section == section && key.name == name;
  });
  return found == std::end(table) ? nullptr : found;
}

bool is_nested(std::string_view section, std::string_view name) {
  return section.size() > name.size() && section.starts_with(name) && section[name.size()] == '.';
}

bool is_section(std::string_view name) {
  return std::any_of(std::begin(table), std::end(table), [&](const Key& key) { return key.section == name; });
}

std::string_view first_section(std::string_view name) {
  const auto* found = std::find_if(std::begin(table), std::end(table), [&](const Key& key) {
    return key.section == name || is_nested(key.section, name);
  });
  return found == std::end(table) ? std::string_view{} : found->section;
}

}  // namespace thalweg::config
