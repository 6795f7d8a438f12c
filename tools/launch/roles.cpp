#include "tools/launch/roles.hpp"

#include "runtime/net/addresses.hpp"
#include "runtime/net/endpoint.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace thalweg::launch {
namespace {

bool is_here(const std::string& host, std::string_view this_host) {
  return host.empty() || host == "localhost" || host == this_host || net::is_loopback(host);
}

/// Whether another machine can reach the root of this job.
Status check_reach(const Config& config, const std::string& host) {
  const auto at = net::parse_endpoint(config.net.listen);
  const bool reached = at && !net::is_loopback(at->host) && at->host != "0.0.0.0" && at->host != "::" &&
                       at->host != "localhost";
  if (reached && !config.net.keys.empty()) return {};
  return Error{
      ErrorCode::invalid,
      fmt::format(
          "[[node]] host = \"{0}\": it has to reach the root: set net.listen to an address of this machine "
          "that {0} reaches, as \"10.0.0.1:7000\", and net.keys to this machine's keys: thalweg keys init "
          "keys; thalweg keys node root; thalweg keys node {0}; and copy keys/{0} to {0} as keys",
          host)};
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
    if (is_here(block.host, this_host)) continue;
    if (Status reached = check_reach(config, block.host); !reached) return reached.error();
    roles.back().host = block.host;
  }
  if (!config.nodes.empty()) return roles;
  for (std::size_t left = config.topology.workers; left > 0;) {
    const std::size_t workers = std::min(left, workers_per_node);
    add(workers, "");
    left -= workers;
  }
  return roles;
}

std::string shell_line(const std::vector<std::string>& arguments) {
  std::string line;
  for (const std::string& argument : arguments) {
    std::string word = "'";
    for (const char letter : argument) word += letter == '\'' ? "'\\''" : std::string(1, letter);
    line += (line.empty() ? "" : " ") + word + "'";
  }
  return line;
}

}  // namespace thalweg::launch
