#include "tools/cli/help.hpp"

#include <fmt/format.h>

#include <sstream>

namespace thalweg::cli {
namespace {

constexpr std::size_t line_width = 96;
constexpr std::size_t name_width = 20;

/// "  NAME    text", the text wrapped and kept in its column; a name too long for its column has a line of
/// its own.
std::string row(const std::string& name, const std::string& text) {
  std::string rows = fmt::format("  {:<{}}", name, name_width);
  std::size_t column = rows.size();
  const std::string next_line = "\n" + std::string(name_width + 2, ' ');
  if (name.size() + 2 > name_width) {
    rows += next_line;
    column = name_width + 2;
  }
  bool first = true;
  std::istringstream words(text);
  for (std::string word; words >> word; first = false) {
    if (!first && column + 1 + word.size() > line_width) {
      rows += next_line;
      column = name_width + 2;
    } else if (!first) {
      rows += ' ';
      ++column;
    }
    rows += word;
    column += word.size();
  }
  return rows + "\n";
}

/// "-q, --quiet" or "    --lr X": long names stand in one column.
std::string flag_names(const Flag& flag) {
  std::string names;
  if (const std::size_t comma = flag.names.find(','); comma != std::string::npos) {
    names = flag.names.substr(0, comma) + ", " + flag.names.substr(comma + 1);
  } else {
    names = "    " + flag.names;
  }
  return flag.value.empty() ? names : names + " " + flag.value;
}

std::string indented(const std::string& lines) {
  std::string text;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) text += "  " + line + "\n";
  return text;
}

}  // namespace

std::string program_help(std::span<const Command> commands) {
  std::string text =
      "Thalweg trains one model on many unequal workers that exchange gradients along a tree.\n\n"
      "Usage: thalweg COMMAND [arguments]\n\nCommands:\n";
  for (const Command& command : commands) text += row(command.name, command.summary);
  text += "\nFlags:\n";
  text += row("-h, --help", "Print this text; `thalweg COMMAND --help` says more about one command.");
  text += row("    --version", "Print the version.");
  text +=
      "\nResults go to stdout, progress and errors to stderr. Exit codes: 0 done, 1 failed, 2 not "
      "understood,\n"
      "130 stopped by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP (each after a checkpoint).\n"
      "\nTry:\n  thalweg train --data synthetic\n";
  return text;
}

std::string command_help(const Command& command) {
  std::string text = command.summary + "\n\nUsage: thalweg " + command.name;
  for (const Positional& positional : command.positionals) {
    const std::string name = positional.name + (positional.repeated ? "..." : "");
    text += positional.required ? " " + name : " [" + name + "]";
  }
  text += " [flags]\n\n";
  for (const Positional& positional : command.positionals) text += row(positional.name, positional.help);
  if (!command.positionals.empty()) text += "\n";
  for (const FlagGroup& group : command.groups) {
    text += group.title + ":\n";
    for (const Flag& flag : group.flags) text += row(flag_names(flag), flag.help);
    text += "\n";
  }
  if (!command.examples.empty()) text += "Examples:\n" + indented(command.examples) + "\n";
  text.pop_back();
  return text;
}

}  // namespace thalweg::cli
