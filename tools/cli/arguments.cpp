#include "tools/cli/arguments.hpp"

#include "runtime/config/nearest.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

namespace thalweg::cli {
namespace {

std::string without_dashes(const std::string& name) {
  return name.substr(std::min(name.find_first_not_of('-'), name.size()));
}

Error unknown_flag(const Command& command, const std::string& typed) {
  const std::size_t equals = typed.find('=');
  const std::string name = without_dashes(typed).starts_with('=') ? typed : typed.substr(0, equals);
  std::vector<std::string> known;
  for (const FlagGroup& group : command.groups) {
    for (const Flag& flag : group.flags) known.push_back(flag.name());
  }
  return {ErrorCode::invalid, fmt::format("{}: unknown flag{}", name,
                                          advice(name, known, "thalweg " + command.name + " --help"))};
}

/// The parser's flags, in the order typed. It keeps one list of values per flag and one list of which flag
/// came when; side by side they give the command line back.
std::vector<std::pair<std::string, std::string>> in_order(const CLI::App& parser) {
  std::vector<std::pair<std::string, std::string>> flags;
  std::map<const CLI::Option*, std::size_t> used;
  for (const CLI::Option* option : parser.parse_order()) {
    if (option->get_positional()) continue;
    const std::size_t index = used[option]++;
    if (index >= option->results().size()) continue;
    flags.emplace_back("--" + option->get_lnames().front(), option->results()[index]);
  }
  return flags;
}

Status check_positionals(const Arguments& arguments) {
  const Command& command = arguments.command;
  const std::size_t given = arguments.positionals.size();
  const bool any_number = !command.positionals.empty() && command.positionals.back().repeated;
  if (given > command.positionals.size() && !any_number) {
    return Error{ErrorCode::invalid,
                 fmt::format("{}: not expected here: see thalweg {} --help",
                             arguments.positionals[command.positionals.size()], command.name)};
  }
  for (std::size_t i = given; i < command.positionals.size(); ++i) {
    if (!command.positionals[i].required) continue;
    return Error{ErrorCode::invalid, fmt::format("{} is missing: thalweg {} needs one: see thalweg {} --help",
                                                 command.positionals[i].name, command.name, command.name)};
  }
  return {};
}

}  // namespace

std::string advice(const std::string& typed, std::span<const std::string> known, const std::string& help) {
  // One letter is near every other letter.
  std::string near;
  if (without_dashes(typed).size() > 1) {
    std::vector<std::string> bare;
    for (const std::string& name : known) bare.push_back(without_dashes(name));
    near = nearest_name(without_dashes(typed), bare);
    if (!near.empty())
      near = known[static_cast<std::size_t>(std::find(bare.begin(), bare.end(), near) - bare.begin())];
  }
  return near.empty() ? ": see " + help : fmt::format(": did you mean {}?", near);
}

bool Arguments::has(std::string_view flag) const { return value(flag).has_value(); }

std::optional<std::string> Arguments::value(std::string_view flag) const {
  const auto found =
      std::find_if(flags.rbegin(), flags.rend(), [&](const auto& given) { return given.first == flag; });
  if (found == flags.rend()) return std::nullopt;
  return found->second;
}

Result<std::size_t> Arguments::count(std::string_view flag, CountRange range) const {
  const auto typed = value(flag);
  if (!typed) return range.otherwise;
  std::size_t number = 0;
  const char* const end = typed->data() + typed->size();
  const auto [rest, error] = std::from_chars(typed->data(), end, number);
  if (error == std::errc() && rest == end && number >= range.least && number <= range.most) return number;
  return Error{ErrorCode::invalid, fmt::format("{} {}: give a whole number from {} to {}", flag, *typed,
                                               range.least, range.most)};
}

Result<std::vector<Override>> Arguments::overrides() const {
  std::vector<Override> overrides;
  for (const auto& [name, value] : flags) {
    if (name == "--set") {
      const std::size_t equals = value.find('=');
      if (equals == std::string::npos || value.find('.') > equals) {
        return Error{ErrorCode::invalid,
                     fmt::format("--set {}: no SECTION.KEY=VALUE: write, for example, --set "
                                 "train.schedule=cosine",
                                 value)};
      }
      const std::string key = value.substr(0, equals);
      overrides.push_back({key, value.substr(equals + 1), name});
    } else if (const Flag* flag = command.find(name); flag != nullptr && !flag->key.empty()) {
      overrides.push_back({flag->key, value, name});
    }
  }
  return overrides;
}

Result<Arguments> parse_arguments(const Command& command, std::span<const std::string> typed) {
  CLI::App parser;
  parser.set_help_flag();
  parser.allow_extras();
  for (const FlagGroup& group : command.groups) {
    for (const Flag& flag : group.flags) {
      if (flag.value.empty()) {
        parser.add_flag(flag.names)->disable_flag_override()->take_all();
      } else {
        parser.add_option(flag.names)->expected(1)->allow_extra_args(false)->take_all();
      }
    }
  }
  try {
    parser.parse(std::vector<std::string>(typed.rbegin(), typed.rend()));  // it takes them last one first
  } catch (const CLI::ArgumentMismatch& mismatch) {
    // Its text begins with the flag's name, without dashes when a switch was given a value.
    const std::string text = mismatch.what();
    const std::string name = text.substr(0, text.find_first_of(": "));
    const bool takes_value = name.starts_with('-');
    return Error{ErrorCode::invalid,
                 fmt::format("{}: {}: see thalweg {} --help", takes_value ? name : "--" + name,
                             takes_value ? "its value is missing" : "takes no value", command.name)};
  } catch (const CLI::ParseError& error) {
    return Error{ErrorCode::invalid, fmt::format("{}: see thalweg {} --help", error.what(), command.name)};
  }

  Arguments arguments{command, {}, in_order(parser)};
  bool only_positionals = false;
  for (const std::string& rest : parser.remaining()) {
    if (rest == "--") {
      only_positionals = true;
    } else if (!only_positionals && rest.size() > 1 && rest.front() == '-') {
      return unknown_flag(command, rest);
    } else {
      arguments.positionals.push_back(rest);
    }
  }
  if (arguments.has("--help")) return arguments;
  if (Status fitting = check_positionals(arguments); !fitting) return fitting.error();
  return arguments;
}

}  // namespace thalweg::cli
