#include "actors/run_folder.hpp"
#include "runtime/net/addresses.hpp"
#include "tools/cli/rendezvous.hpp"
#include "tools/cli/subcommands.hpp"
#include "tools/cli/terminal.hpp"
#include "tools/cli/training_run.hpp"
#include "tools/launch/launcher.hpp"
#include "tools/launch/roles.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace thalweg::cli {
namespace fs = std::filesystem;

namespace {

using launch::Command;

constexpr std::size_t workers_max = 4000;
constexpr std::string_view any_port = "127.0.0.1:0";
constexpr std::string_view own_flag = "--workers-per-node";

/// Where everything is.
struct Place {
  fs::path program, folder, keys;
  std::string listen;  ///< of the root
  bool logs_messages = true;

  [[nodiscard]] fs::path logs() const { return folder / "log"; }
};

Result<std::vector<launch::NodeRole>> roles_of(const Config& config, const Arguments& arguments) {
  const auto workers = arguments.count(own_flag, {1, workers_max, 1});
  if (!workers) return workers.error();
  if (arguments.has(own_flag) && !config.nodes.empty()) {
    return Error{
        ErrorCode::invalid,
        fmt::format("{}: the job has [[node]] blocks, which say it: leave one of them out", own_flag)};
  }
  return launch::node_roles(config, *workers, net::host_name());
}

Result<Place> ready_place(const Config& config, const Arguments& arguments) {
  Place place;
  std::error_code error;
  place.program = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    return Error{ErrorCode::io, fmt::format("cannot find this program's own file: {}", error.message())};
  }
  Result<fs::path> folder = ready_folder(config, arguments);
  if (!folder) return folder.error();
  place.folder = *folder;
  // A job that names an address and keys of its own is one for several machines.
  const bool alone = config.net.listen.empty() || config.net.keys.empty();
  Result<fs::path> keys = alone ? local_keys(place.folder) : fs::absolute(config.net.keys);
  if (!keys) return keys.error();
  place.keys = *keys;
  place.listen = alone ? any_port : config.net.listen;
  place.logs_messages = config.log.level != "off";
  fs::create_directory(place.logs(), error);
  if (error) {
    return Error{ErrorCode::io, fmt::format("cannot make {}: {}", place.logs().string(), error.message())};
  }
  return place;
}

std::vector<std::string> begin_of_root(const Place& place, std::string_view address) {
  return {"node", "--root", "--listen", std::string(address), "--keys", place.keys.string()};
}

/// The root as it was asked for: all that was typed goes on to it.
Command first_root(const Arguments& arguments, const Place& place) {
  Command root{place.program, begin_of_root(place, place.listen), {}};
  for (const auto& [name, value] : arguments.flags) {
    if (name == own_flag) continue;
    root.arguments.push_back(name);
    if (!arguments.command.find(name)->value.empty()) root.arguments.push_back(value);
  }
  // The last one counts.
  if (!arguments.has("--resume")) {
    root.arguments.insert(root.arguments.end(), {"--out", place.folder.string()});
  }
  root.arguments.emplace_back("--");
  root.arguments.insert(root.arguments.end(), arguments.positionals.begin(), arguments.positionals.end());
  return root;
}

/// The root of the run that is in the folder by now, with its job.
Command next_root(const Arguments& arguments, const Place& place, const std::string& address) {
  Command root{place.program, begin_of_root(place, address), {}};
  root.arguments.insert(root.arguments.end(), {"--resume", place.folder.string()});
  for (const char* flag : {"--json", "--quiet", "--verbose"}) {
    if (arguments.has(flag)) root.arguments.emplace_back(flag);
  }
  return root;
}

/// On another machine, where its keys are in `keys`. With a terminal of its own, so that it is hung up on,
/// and leaves, when the ssh that this process started is no more.
Command remote_node(const launch::NodeRole& role, const Place& place, const std::string& address) {
  std::vector<std::string> there = {
      "thalweg", "node", "--join", address,  "--workers", std::to_string(role.workers),
      "--keys",  "keys", "--name", role.name};
  if (!role.group.empty()) there.insert(there.end(), {"--group", role.group});
  return {"/usr/bin/env",
          {"ssh", "-tt", "-o", "BatchMode=yes", "--", role.host, launch::shell_line(there)},
          place.logs() / (role.name + ".txt")};
}

Command node(const launch::NodeRole& role, const Place& place, const std::string& address) {
  if (!role.host.empty()) return remote_node(role, place, address);
  Command command{place.program, {"node", "--join", address}, place.logs() / (role.name + ".txt")};
  command.arguments.insert(command.arguments.end(), {"--workers", std::to_string(role.workers), "--keys",
                                                     place.keys.string(), "--name", role.name});
  if (place.listen == any_port) command.arguments.insert(command.arguments.end(), {"--listen", "127.0.0.1"});
  if (place.logs_messages)
    command.arguments.insert(command.arguments.end(), {"--log", place.logs().string()});
  if (!role.group.empty()) command.arguments.insert(command.arguments.end(), {"--group", role.group});
  return command;
}

}  // namespace

int run_launch(const Arguments& arguments) {
  const Result<Config> config = read_job(arguments);
  if (!config) return report_error(config.error());
  if (arguments.has("--print-config")) return show_job(*config);
  const auto roles = roles_of(*config, arguments);
  if (!roles) return report_error(roles.error());
  const Result<Place> place = ready_place(*config, arguments);
  if (!place) return report_error(place.error());

  launch::Crew crew;
  crew.root = first_root(arguments, *place);
  crew.root_again = [&](const std::string& address) { return next_root(arguments, *place, address); };
  for (const launch::NodeRole& role : *roles) {
    crew.nodes.push_back(
        {role.name, [&](const std::string& address) { return node(role, *place, address); }});
  }
  crew.folder = place->folder;
  crew.address = [&](pid_t root) { return address_of(place->folder, root); };
  // The root may have left a line on the terminal that it draws anew.
  const std::string begin_line = look_at_terminal().live ? "\r\033[K" : "";
  crew.say = [&](std::string_view line) { print_progress(fmt::format("{}{}\n", begin_line, line)); };
  launch::OversightOptions options;
  options.restarts = config->net.restarts;
  options.logs = place->logs().string();
  const Result<int> code = launch::run(crew, std::move(options));
  return code ? *code : report_error(code.error());
}

}  // namespace thalweg::cli
