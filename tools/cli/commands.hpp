#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What can be typed, as data: the one table from which arguments are parsed, help is printed and misspelt
/// names are corrected.
namespace thalweg::cli {

struct Flag {
  std::string names;  ///< "-q,--quiet"; the last one is what messages and code call it
  std::string value;  ///< what follows it in the help, as "N"; empty: a switch
  std::string key;    ///< the key of the job file that it sets; empty: it is for the program itself
  std::string help;

  [[nodiscard]] std::string name() const;  ///< "--quiet"
};

struct FlagGroup {
  std::string title;
  std::vector<Flag> flags;
};

struct Positional {
  std::string name;  ///< "JOB.toml"
  std::string help;
  bool required = false;
  bool repeated = false;  ///< any number of them; such a one is the last
};

struct Command {
  std::string name;
  std::string summary;  ///< one line, for the list of commands and the top of its own help
  std::vector<Positional> positionals;
  std::vector<FlagGroup> groups;
  std::string examples;  ///< lines as one would type them

  [[nodiscard]] const Flag* find(std::string_view name) const;
};

/// All subcommands, in the order of the help. Defaults in the texts are those of `Config`.
std::vector<Command> all_commands();

}  // namespace thalweg::cli
