#include "runtime/config/schema.hpp"

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
    if (key.section != section) {
      text += fmt::format("{}[{}]\n", section.empty() ? "" : "\n", key.section);
      section = key.section;
    }
    // A job file may say how long to train in one way only.
    const bool replaced = shown.train.steps != 0 && key.text() == "train.epochs";
    text += fmt::format("# {}\n{}{} = {}\n", key.comment, replaced ? "# " : "", key.name,
                        config::field_text(key.field(shown), key.rule));
  }
  return text;
}

}  // namespace thalweg
