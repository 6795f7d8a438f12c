#pragma once

#include "tools/cli/commands.hpp"

#include <thalweg/config.hpp>
#include <thalweg/result.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace thalweg::cli {

/// Which numbers a flag takes that is not a key of the job file.
struct CountRange {
  std::size_t least = 1;
  std::size_t most = 1;
  std::size_t otherwise = 1;  ///< the number when it was not typed
};

/// What was typed after `thalweg COMMAND`.
struct Arguments {
  Command command;
  std::vector<std::string> positionals;
  std::vector<std::pair<std::string, std::string>> flags;  ///< name ("--lr") and value, in the order typed

  [[nodiscard]] bool has(std::string_view flag) const;
  /// The value of the last such flag.
  [[nodiscard]] std::optional<std::string> value(std::string_view flag) const;

  /// The whole number behind `flag`. Fails: `invalid` for anything else, and outside of `range`.
  [[nodiscard]] Result<std::size_t> count(std::string_view flag, CountRange range) const;

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
