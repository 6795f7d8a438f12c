#include "runtime/config/node_keys.hpp"

#include "runtime/config/nearest.hpp"
#include "runtime/config/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace thalweg::config {
namespace {

const NodeKey table[] = {
    {"host", "Name or address of the machine; empty: this one.",
     [](Config::Node& n) -> Field { return &n.host; }},
    {"workers",
     "Workers that run there; over all nodes topology.workers of them.",
     [](Config::Node& n) -> Field { return &n.workers; },
     {Counts{1, workers_max}}},
    {"group",
     "The leader that they belong to, from 0.",
     [](Config::Node& n) -> Field { return &n.group; },
     {Counts{0, workers_max}}},
    {"devices",
     "What they compute on, in turn.",
     [](Config::Node& n) -> Field { return &n.devices; },
     {Text{.may_be_empty = false}}},
};

}  // namespace

std::span<const NodeKey> node_keys() { return table; }

const NodeKey* find_node_key(std::string_view name) {
  const auto* found = std::ranges::find(table, name, &NodeKey::name);
  return found == std::end(table) ? nullptr : found;
}

std::string unknown_node_key(std::string_view name) {
  std::vector<std::string> names;
  for (const NodeKey& key : table) names.emplace_back(key.name);
  const std::string failed = fmt::format("unknown key 'node.{}': ", printable(name));
  const std::string nearest = nearest_name(name, names);
  if (!nearest.empty()) return failed + "did you mean 'node." + nearest + "'?";
  return failed + fmt::format("the keys of [[node]] are {}", fmt::join(names, ", "));
}

std::string nodes_text(std::span<const Config::Node> nodes) {
  const std::vector<Config::Node> none(1);
  std::string text = "\n# One such block for each node, when a run has several.\n";
  const std::string_view mark = nodes.empty() ? "# " : "";
  bool first = true;
  for (Config::Node node : nodes.empty() ? std::span<const Config::Node>(none) : nodes) {
    text += fmt::format("{}{}[[node]]\n", first ? "" : "\n", mark);
    for (const NodeKey& key : table) {
      if (first) text += fmt::format("# {}\n", key.comment);
      text += fmt::format("{}{} = {}\n", mark, key.name, field_text(key.field(node), key.rule));
    }
    first = false;
  }
  return text;
}

}  // namespace thalweg::config
