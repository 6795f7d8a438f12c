#pragma once

#include "tools/cli/commands.hpp"

#include <span>
#include <string>

namespace thalweg::cli {

/// The text of `thalweg --help`.
std::string program_help(std::span<const Command> commands);

/// The text of `thalweg COMMAND --help`: usage, positionals, flags by group, examples; at most 96 columns
/// wide.
std::string command_help(const Command& command);

}  // namespace thalweg::cli
