#pragma once

#include <thalweg/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Which nodes a job needs beside its root. Pure.
namespace thalweg::launch {

/// One process that joins the run.
struct NodeRole {
  std::string name;         ///< "node-1", counted from 1
  std::size_t workers = 1;  ///< that it offers
  std::string group;        ///< "g1"; empty: any
  std::string host = {};    ///< where it is started over ssh; empty: on this machine

  friend bool operator==(const NodeRole&, const NodeRole&) = default;
};

/// A node for each [[node]] block of the job; without blocks as many as it takes with `workers_per_node`
/// workers each. `this_host`: what the system calls this machine.
/// Fails: `invalid` for a block of another machine when the job does not say where that one reaches the root.
Result<std::vector<NodeRole>> node_roles(const Config& config, std::size_t workers_per_node,
                                         std::string_view this_host);

/// What a shell on another machine runs: each argument as one word.
std::string shell_line(const std::vector<std::string>& arguments);

}  // namespace thalweg::launch
