#pragma once

#include "tools/cli/commands.hpp"

#include <thalweg/config.hpp>
#include <thalweg/result.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace thalweg::cli {

/// What was typed after `thalweg COMMAND`.
struct Arguments {
  Command command;
  std::vector<std::string> positionals;
  std::vector<std::pair<std::string, std::string>> flags;  ///< name ("--lr") and value, in the order typed

  [[nodiscard]] bool has(std::string_view flag) const;
  /// The value of the last such flag.
  [[nodiscard]] std::optional<std::string> value(std::string_view flag) const;

  /// The keys that flags and `--set` set, in the order typed.
  /// Fails: `invalid` for a `--set` that is no SECTION.KEY=VALUE.
  [[nodiscard]] Result<std::vector<Override>> overrides() const;
};

/// Reads the arguments of `command`, without the program's and the command's name.
/// Fails: `invalid` for unknown flags (says the nearest known one), missing values, and more or fewer
/// positionals than the command takes (unless --help is among the flags).
Result<Arguments> parse_arguments(const Command& command, std::span<const std::string> typed);

/// ": did you mean NAME?" or, when nothing is near, ": see HELP".
std::string advice(const std::string& typed, std::span<const std::string> known, const std::string& help);

}  // namespace thalweg::cli
