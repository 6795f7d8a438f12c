#include "runtime/config/draft.hpp"

#include "runtime/config/node_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace thalweg::config {
namespace {

Error invalid(const std::string& place, const std::string& text) {
  return {ErrorCode::invalid, place + ": " + text};
}

}  // namespace

Status Draft::apply(const Setting& setting) {
  const std::string& place = setting.origin.place;
  if (setting.section == node_section) return apply_node(setting);
  if (setting.key.empty()) {
    const std::string_view section = first_section(setting.section);
    if (section.empty()) return invalid(place, unknown_section(setting.section));
    return invalid(place, fmt::format("{}: expected a section, found {}: write [{}] above its keys",
                                      setting.section, kind_of(setting.value), section));
  }
  const Key* key = find_key(setting.section, setting.key);
  if (key == nullptr) return invalid(place, unknown_key(setting.section, setting.key));
  const Field field = key->field(config_);
  auto* const* factors = std::get_if<Factors*>(&field);
  const auto complaint = factors != nullptr && !setting.entry.empty()
                             ? set_entry(**factors, {setting.entry, setting.value}, key->rule)
                             : set_field(field, setting.value, key->rule);
  if (complaint) {
    return invalid(place, key->text() + ": " + *complaint);
  }
  remember(key->text(), setting);
  if (setting.origin.source == Source::file) {
    file_keys_.insert(key->text());
    file_topology_ = config_.topology;
  }
  return {};
}

Status Draft::apply_node(const Setting& setting) {
  const std::string& place = setting.origin.place;
  if (!setting.node && setting.key.empty()) {
    return invalid(place,
                   fmt::format("node: expected blocks, found {}: write [[node]] above the keys of each",
                               kind_of(setting.value)));
  }
  const NodeKey* key = find_node_key(setting.key);
  if (!setting.key.empty() && key == nullptr) return invalid(place, unknown_node_key(setting.key));
  if (!setting.node) {
    return invalid(place,
                   fmt::format("node.{}: a flag cannot say of which node: write it into a [[node]] block "
                               "of the job file",
                               setting.key));
  }
  if (*setting.node >= config_.nodes.size()) config_.nodes.resize(*setting.node + 1);
  if (key != nullptr) {
    const Field field = key->field(config_.nodes[*setting.node]);
    if (const auto complaint = set_field(field, setting.value, key->rule)) {
      return invalid(place, fmt::format("node.{}: {}", key->name, *complaint));
    }
  }
  remember(std::string(node_section), setting);
  return {};
}

void Draft::remember(const std::string& key, const Setting& setting) {
  Origin origin = setting.origin;
  origin.order = ++applied_;
  origins_[key] = std::move(origin);
}

Result<Config> Draft::finish() {
  if (auto chosen = choose_length(); !chosen) return chosen.error();
  if (auto chosen = choose_tree(); !chosen) return chosen.error();
  if (const auto problem = resolve(config_)) return blame(*problem);
  return std::move(config_);
}

Origin Draft::origin_of(const std::string& key) const {
  const auto found = origins_.find(key);
  return found == origins_.end() ? Origin{} : found->second;
}

/// The key that was set last is the one whose writer sees the error; when none was, the first.
Error Draft::blame(const Problem& problem) const {
  std::string key = problem.keys.front();
  for (const auto& candidate : problem.keys) {
    if (origin_of(candidate).order > origin_of(key).order) key = candidate;
  }
  const std::string place = origin_of(key).place;
  return {ErrorCode::invalid, (place.empty() ? "" : place + ": ") + key + ": " + problem.text};
}

/// `epochs` and `steps` are two ways to say how long to train: at most one of them in the file, at most one
/// among the flags, and a flag counts more than the file.
Status Draft::choose_length() {
  const Origin epochs = origin_of("train.epochs");
  const Origin steps = origin_of("train.steps");
  if (config_.train.steps == 0 || epochs.source == Source::preset) return {};
  if (epochs.source == steps.source) {
    const bool epochs_last = epochs.order > steps.order;
    return invalid(epochs_last ? epochs.place : steps.place,
                   fmt::format("train.{}: train.{} is set too ({}): keep one of the two",
                               epochs_last ? "epochs" : "steps", epochs_last ? "steps" : "epochs",
                               epochs_last ? steps.place : epochs.place));
  }
  if (epochs.source == Source::flag) config_.train.steps = 0;
  return {};
}

/// `tree` says what `workers` and `groups` say too, so they must agree, except that flags count more than the
/// file: a tree among the flags replaces the file's numbers, and numbers among the flags replace a tree that
/// only repeats the file's numbers, as the one in every printed job file does.
Status Draft::choose_tree() {
  const Source source = origin_of("topology.tree").source;
  if (source == Source::preset) return {};
  auto& topology = config_.topology;
  const Source workers = origin_of("topology.workers").source;
  const Source groups = origin_of("topology.groups").source;
  const auto& file = file_topology_;
  const bool file_repeats_itself = file_keys_.contains("topology.workers") &&
                                   file_keys_.contains("topology.groups") && file.groups <= file.workers &&
                                   file.tree == even_tree(file.workers, file.groups);
  if (source == Source::file && std::max(workers, groups) == Source::flag && file_repeats_itself) {
    topology.tree = {};
    return {};
  }
  const auto disagreement = [&](const char* name, Source said_by, std::size_t said,
                                std::size_t has) -> Status {
    if (said_by == Source::preset || said_by < source || said == has) return {};
    return blame({{"topology.tree", std::string("topology.") + name},
                  fmt::format("the tree has {0} {1} and {1} = {2}: keep one of the two", has, name, said)});
  };
  if (auto agreed = disagreement("workers", workers, topology.workers, topology.tree.worker_count());
      !agreed) {
    return agreed;
  }
  return disagreement("groups", groups, topology.groups, topology.tree.children.size());
}

}  // namespace thalweg::config
