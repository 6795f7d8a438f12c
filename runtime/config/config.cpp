#include "runtime/check.hpp"
#include "runtime/config/node_keys.hpp"
#include "runtime/config/schema.hpp"
#include "runtime/config/text.hpp"

#include <thalweg/config.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <system_error>
#include <utility>

namespace thalweg {

std::size_t TreeSpec::worker_count() const {
  if (children.empty()) return workers;
  std::size_t count = 0;
  for (const auto& child : children) count += child.worker_count();
  return count;
}

std::size_t TreeSpec::leader_count() const {
  std::size_t count = children.size();
  for (const auto& child : children) count += child.leader_count();
  return count;
}

std::size_t TreeSpec::depth() const {
  std::size_t below = 0;
  for (const auto& child : children) below = std::max(below, child.depth());
  return below + 1;
}

std::string TreeSpec::text() const {
  if (children.empty()) return std::to_string(workers);
  std::string all;
  for (const auto& child : children) all += (all.empty() ? "" : ", ") + child.text();
  return "[" + all + "]";
}

std::size_t Config::global_batch() const {
  const std::size_t workers = topology.tree == TreeSpec{} ? topology.workers : topology.tree.worker_count();
  std::size_t sum = 0;
  for (std::size_t i = 0; i < workers; ++i) sum += batch_of(i);
  return sum;
}

Result<Config> resolve_config(Config config) {
  if (const auto problem = config::resolve(config)) {
    return Error{ErrorCode::invalid, problem->keys.front() + ": " + problem->text};
  }
  return config;
}

namespace config {
namespace {

constexpr std::uint64_t window_min = 1 << 16;

std::optional<Problem> resolve_tree(Config::Topology& topology) {
  if (topology.tree == TreeSpec{}) {
    if (topology.groups > topology.workers) {
      return Problem{{"topology.groups", "topology.workers"},
                     fmt::format("{} groups cannot share {} workers: every group needs at least one",
                                 topology.groups, topology.workers)};
    }
    topology.tree = even_tree(topology.workers, topology.groups);
  }
  const std::size_t workers = topology.tree.worker_count();
  const std::size_t leaders = topology.tree.leader_count();
  if (workers + leaders > workers_max) {
    return Problem{{"topology.tree", "topology.workers", "topology.groups"},
                   fmt::format("{} workers and {} leaders are too many: one process holds {} together",
                               workers, leaders, workers_max)};
  }
  topology.workers = workers;
  topology.groups = topology.tree.children.size();
  return {};
}

std::optional<Problem> check_batches(const Config& config) {
  const std::size_t batches = config.train.batch.size();
  if (batches == 1 || batches == config.topology.workers) return {};
  return Problem{{"train.batch", "topology.tree", "topology.workers", "topology.groups"},
                 fmt::format("{} batch sizes for {} worker{}: give one number for all, or one for each",
                             batches, config.topology.workers, config.topology.workers == 1 ? "" : "s")};
}

std::optional<Problem> check_levels(const Config& config) {
  const auto& levels = config.sync.level_triggers;
  const std::size_t depth = config.topology.tree.depth();
  for (std::size_t level = depth; level < levels.size(); ++level) {
    if (levels[level].empty()) continue;
    const std::string levels_are = depth == 1 ? "the tree's only level is 0, the root"
                                              : fmt::format("the tree's levels are 0 to {}", depth - 1);
    return Problem{
        {fmt::format("sync.level.{}.trigger", level), "topology.tree", "topology.workers", "topology.groups"},
        fmt::format("there are no aggregators on level {}: {}", level, levels_are)};
  }
  if (config.sync.trigger.empty() || levels[0].empty() || config.sync.trigger == levels[0]) return {};
  return Problem{{"sync.level.0.trigger", "sync.trigger"},
                 fmt::format("sync.trigger = \"{}\" and sync.level.0.trigger = \"{}\" are both the root's: "
                             "keep one of the two",
                             config.sync.trigger, levels[0])};
}

/// The 3 in "w3"; nothing for any other text.
std::optional<std::size_t> worker_index(std::string_view name) {
  if (!name.starts_with('w')) return {};
  name.remove_prefix(1);
  std::size_t index = 0;
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data(), end, index);
  const bool leading_zero = name.size() > 1 && name[0] == '0';
  if (parsed.ec != std::errc{} || parsed.ptr != end || leading_zero) return {};
  return index;
}

/// Puts the slow workers in worker order, so that two jobs that say the same are equal.
std::optional<Problem> resolve_slow(Config& config) {
  const std::size_t workers = config.topology.workers;
  std::map<std::size_t, double> factors;
  for (const auto& [name, factor] : config.emulate.slow) {
    const auto index = worker_index(name);
    std::string failed;
    if (!index || *index >= workers) {
      failed =
          fmt::format("there is no worker '{}' to be slow: {}", printable(name),
                      workers == 1 ? "the only one is w0" : fmt::format("they are w0 to w{}", workers - 1));
    } else if (factor < 1 && config.emulate.step.count() == 0) {
      failed =
          fmt::format("{} would be faster than it is: give a factor of 1 or more, or emulate.step", name);
    } else if (!factors.emplace(*index, factor).second) {
      failed = fmt::format("'{}' stands there twice: keep one of the two", name);
    }
    if (!failed.empty()) {
      return Problem{{"emulate.slow", "topology.tree", "topology.workers", "topology.groups"}, failed};
    }
  }
  config.emulate.slow.clear();
  for (const auto& [index, factor] : factors)
    config.emulate.slow.emplace_back(fmt::format("w{}", index), factor);
  return {};
}

std::optional<Problem> check_nodes(Config& config) {
  std::size_t workers = 0;
  for (std::size_t i = 0; i < config.nodes.size(); ++i) {
    for (const NodeKey& key : node_keys()) {
      if (const auto complaint = check_field(key.field(config.nodes[i]), key.rule)) {
        return Problem{{"node"}, fmt::format("{} of block {}: {}", key.name, i + 1, *complaint)};
      }
    }
    if (config.nodes[i].devices.empty()) {
      return Problem{{"node"}, fmt::format("block {} has no device: give one, as [\"host\"]", i + 1)};
    }
    const std::size_t groups = std::max<std::size_t>(config.topology.groups, 1);
    if (config.nodes[i].group >= groups) {
      const std::string right =
          groups == 1 ? "the only one is 0" : fmt::format("they are 0 to {}", groups - 1);
      return Problem{
          {"node", "topology.tree", "topology.groups"},
          fmt::format("there is no group {}, which block {} names: {}", config.nodes[i].group, i + 1, right)};
    }
    workers += config.nodes[i].workers;
  }
  if (config.nodes.empty() || workers == config.topology.workers) return {};
  return Problem{{"node", "topology.tree", "topology.workers"},
                 fmt::format("all blocks together have {} worker{}, and the tree has {}: make them equal",
                             workers, workers == 1 ? "" : "s", config.topology.workers)};
}

}  // namespace

TreeSpec even_tree(std::uint64_t workers, std::uint64_t groups) {
  THALWEG_CHECK(groups <= workers, "every group has a worker");
  TreeSpec tree;
  if (groups == 0) {
    tree.workers = workers;
    return tree;
  }
  for (std::uint64_t i = 0; i < groups; ++i) {
    tree.children.push_back({workers / groups + (i < workers % groups ? 1 : 0), {}});
  }
  return tree;
}

std::optional<Problem> resolve(Config& config) {
  // A tree that is absent would be refused as one without workers, so it is made before anything is checked;
  // its own numbers are checked before it is made.
  for (const Key& key : all_keys()) {
    const Field field = key.field(config);
    const auto* tree = std::get_if<TreeSpec*>(&field);
    if (tree != nullptr && **tree == TreeSpec{}) continue;
    if (auto complaint = check_field(field, key.rule)) return Problem{{key.text()}, *complaint};
  }
  if (auto problem = resolve_tree(config.topology)) return problem;
  if (auto problem = check_batches(config)) return problem;
  if (auto problem = check_levels(config)) return problem;
  if (auto problem = resolve_slow(config)) return problem;
  if (config.sync.min_workers > config.topology.workers) {
    return Problem{{"sync.min_workers", "topology.tree", "topology.workers"},
                   fmt::format("{} workers can never be left of {}: give {} or less", config.sync.min_workers,
                               config.topology.workers, config.topology.workers)};
  }
  if (config.train.betas.size() != 2) {
    return Problem{
        {"train.betas"},
        fmt::format("expected two numbers, found {}: give both, as [0.9, 0.999]", config.train.betas.size())};
  }
  if (config.train.optimizer == "adamw" && config.train.nesterov) {
    return Problem{{"train.nesterov", "train.optimizer"},
                   "adamw has no Nesterov form: leave it out, or use sgd"};
  }
  if (!std::is_sorted(config.train.step_at.begin(), config.train.step_at.end())) {
    return Problem{{"train.step_at"}, "the fractions fall: give them in rising order"};
  }
  if (auto problem = check_nodes(config)) return problem;
  if (config.net.window != 0 && config.net.window < window_min) {
    return Problem{{"net.window"},
                   fmt::format("{} bytes are too few for a connection to move: give {} or more, or 0",
                               config.net.window, window_min)};
  }
  if (config.train.steps != 0) config.train.epochs = Config{}.train.epochs;
  return {};
}

}  // namespace config
}  // namespace thalweg
