#include "runtime/config/node_keys.hpp"
#include "runtime/config/schema.hpp"
#include "runtime/config/text.hpp"

#include <thalweg/config.hpp>

#include <fmt/format.h>

namespace thalweg {

std::string print_config(const Config& config) {
  Config shown = config;
  auto& topology = shown.topology;
  if (topology.tree == TreeSpec{} && topology.groups <= topology.workers) {
    topology.tree = config::even_tree(topology.workers, topology.groups);
  }
  topology.workers = topology.tree.worker_count();
  topology.groups = topology.tree.children.size();

  std::string text;
  std::string_view section;
  for (const auto& key : config::all_keys()) {
    const std::string value = config::field_text(key.field(shown), key.rule);
    // A job file may say how long to train in one way only.
    const bool replaced = shown.train.steps != 0 && key.text() == "train.epochs";
    const bool left_out = key.left_out && value == config::string_text("");
    if (key.section != section) {
      section = key.section;
      if (!text.empty() && !key.comment.empty()) text += '\n';
      // The comment of a section that is one itself stands above it, so that it can be uncommented as a
      // whole.
      if (key.left_out && !key.comment.empty()) text += fmt::format("# {}\n", key.comment);
      text += fmt::format("{}[{}]\n", left_out ? "# " : "", section);
    }
    if (!key.left_out) text += fmt::format("# {}\n", key.comment);
    text += fmt::format("{}{} = {}\n", replaced || left_out ? "# " : "", key.name, value);
  }
  return text + config::nodes_text(shown.nodes);
}

}  // namespace thalweg
