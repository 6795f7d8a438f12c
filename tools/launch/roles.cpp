#include "tools/launch/roles.hpp"

#include "runtime/net/addresses.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace thalweg::launch {
namespace {

bool is_here(const std::string& host, std::string_view this_host) {
  return host.empty() || host == "localhost" || host == this_host || net::is_loopback(host);
}

Error elsewhere(const Config::Node& block, const NodeRole& role) {
  const std::string group = role.group.empty() ? "" : " --group " + role.group;
  return {
      ErrorCode::invalid,
      fmt::format("[[node]] host = \"{}\": launch starts processes on this machine only: make keys with "
                  "thalweg keys, start the root here with: thalweg node --root JOB.toml --listen ADDR:PORT "
                  "--keys keys/root; and on {}: thalweg node --join ADDR:PORT --workers {}{} --keys DIR",
                  block.host, block.host, role.workers, group)};
}

}  // namespace

Result<std::vector<NodeRole>> node_roles(const Config& config, std::size_t workers_per_node,
                                         std::string_view this_host) {
  std::vector<NodeRole> roles;
  const auto add = [&roles](std::size_t workers, std::string group) {
    roles.push_back({fmt::format("node-{}", roles.size() + 1), workers, std::move(group)});
  };
  for (const Config::Node& block : config.nodes) {
    add(block.workers, config.topology.groups == 0 ? "" : fmt::format("g{}", block.group));
    if (!is_here(block.host, this_host)) return elsewhere(block, roles.back());
  }
  if (!config.nodes.empty()) return roles;
  for (std::size_t left = config.topology.workers; left > 0;) {
    const std::size_t workers = std::min(left, workers_per_node);
    add(workers, "");
    left -= workers;
  }
  return roles;
}

}  // namespace thalweg::launch
