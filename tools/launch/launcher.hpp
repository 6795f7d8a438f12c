#pragma once

#include "tools/launch/oversight.hpp"
#include "tools/launch/process.hpp"

#include <thalweg/result.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Runs a root and its nodes as child processes, until the run is over: does what Oversight decides, in one
/// loop that waits for children, signals, time and the root's address, all at once. None of the children
/// outlives it. `thalweg launch` calls it on its main thread.
namespace thalweg::launch {

/// A node: its name, and how it is started when the root's address is known.
struct NodeStart {
  std::string name;
  std::function<Command(const std::string& address)> command;
};

struct Crew {
  Command root;
  std::function<Command(const std::string& address)> root_again;  ///< at the address that it had before
  std::vector<NodeStart> nodes;
  std::filesystem::path folder;  ///< in which something changes when the root begins to listen
  /// Where the root, the process of that id, listens; nothing: not yet.
  std::function<std::optional<std::string>(pid_t root)> address;
  std::function<void(std::string_view line)> say;
};

/// Returns the exit code. `options.nodes` are taken from `crew`.
/// Requires: no other thread of this process, and no other child.
/// Fails: `io` when `crew.folder` cannot be watched; `failed` when the system refuses what a loop needs.
Result<int> run(const Crew& crew, OversightOptions options);

}  // namespace thalweg::launch
