#include "runtime/net/addresses.hpp"
#include "runtime/net/endpoint.hpp"
#include "tools/cli/rendezvous.hpp"
#include "tools/cli/stop_signals.hpp"
#include "tools/cli/subcommands.hpp"
#include "tools/cli/terminal.hpp"
#include "tools/cli/training_run.hpp"

#include <thalweg/node.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace thalweg::cli {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t workers_max = 4000;  // as of a whole run
constexpr std::string_view see_help = "see thalweg node --help";

Error not_understood(const std::string& text) {
  return {ErrorCode::invalid, fmt::format("{}: {}", text, see_help)};
}

/// Flags of one of the two roles, typed with the other.
Status check_role(const Arguments& arguments, std::string_view role, std::span<const std::string_view> own) {
  for (const auto& [name, value] : arguments.flags) {
    if (std::ranges::find(own, name) == own.end()) {
      return not_understood(fmt::format("{}: does not go with {}", name, role));
    }
  }
  return {};
}

Result<NodeOptions> node_options(const Arguments& arguments) {
  constexpr std::array<std::string_view, 10> own = {"--join",       "--workers", "--group",    "--keys",
                                                    "--listen",     "--name",    "--data-dir", "--quiet",
                                                    "--rejoin-for", "--log"};
  if (Status fits = check_role(arguments, "--join", own); !fits) return fits.error();
  if (!arguments.positionals.empty()) {
    return not_understood(fmt::format("{}: a node that joins is told its job", arguments.positionals[0]));
  }
  NodeOptions options;
  options.join = *arguments.value("--join");
  const Result<net::Endpoint> root = net::parse_endpoint(options.join);
  if (!root) return Error{root.error().code, "--join: " + root.error().text};
  const Result<std::size_t> workers = arguments.count("--workers", {1, workers_max, 1});
  if (!workers) return workers.error();
  options.workers = *workers;
  options.group = arguments.value("--group").value_or("");
  options.keys = arguments.value("--keys").value_or("keys");
  options.listen = arguments.value("--listen").value_or("");
  options.name = arguments.value("--name").value_or("");
  options.data = arguments.value("--data-dir").value_or("");
  options.log = arguments.value("--log").value_or("");
  const Result<std::size_t> rejoin = arguments.count("--rejoin-for", {0, 86'400, 60});
  if (!rejoin) return rejoin.error();
  options.rejoin_for = std::chrono::seconds(*rejoin);
  return options;
}

int join(const Arguments& arguments) {
  Result<NodeOptions> options = node_options(arguments);
  if (!options) return report_error(options.error());
  const bool quiet = arguments.has("--quiet");
  options->on_note = [quiet](const std::string& line) {
    if (!quiet) print_progress(line + "\n");
  };
  StopSignals signals([] { print_progress("leaving the run; press again to end at once\n"); });
  // Whoever is not in the run yet has nothing to hand over.
  signals.on_stop([&signals] { std::_Exit(signals.exit_code()); });
  Result<Node> node = Node::join(std::move(*options));
  signals.forget();
  if (!node) return report_error(node.error());
  signals.on_stop([&node] { node->stop(); });
  const Status ended = node->wait();
  signals.forget();
  return ended ? signals.exit_code() : report_error(ended.error());
}

/// Whether only this machine reaches `host`.
bool is_local(const std::string& host) {
  if (net::is_loopback(host)) return true;
  const Result<std::vector<std::string>> addresses = net::resolve(host);
  return addresses && !addresses->empty() && std::ranges::all_of(*addresses, net::is_loopback);
}

/// Keys are empty where they have to be made, in the run folder.
Result<ListenOptions> listen_options(const Config& config, const Arguments& arguments) {
  ListenOptions options;
  options.address = arguments.value("--listen").value_or(config.net.listen);
  if (options.address.empty()) {
    return not_understood("--listen is missing: say where nodes reach this one, as --listen 10.0.0.1:7000");
  }
  const Result<net::Endpoint> at = net::parse_endpoint(options.address);
  if (!at) return Error{at.error().code, "--listen: " + at.error().text};
  const Result<std::size_t> own = arguments.count("--local-workers", {0, config.topology.workers, 0});
  if (!own) return own.error();
  options.workers = *own;
  options.keys = arguments.value("--keys").value_or(config.net.keys);
  if (options.keys.empty() && !is_local(at->host)) {
    return Error{ErrorCode::invalid,
                 fmt::format("--listen {}: other machines reach it, and no keys are given: make them with: "
                             "thalweg keys init keys; thalweg keys node root; and add: --keys keys/root",
                             options.address)};
  }
  return options;
}

/// What whoever joins gives as --keys. On this machine the root's will do.
std::string keys_to_join(const std::string& address, const fs::path& keys_of_root) {
  const Result<net::Endpoint> at = net::parse_endpoint(address);
  return at && is_local(at->host) ? keys_of_root.string() : "DIR";
}

std::string listening_line(const std::string& address, std::size_t workers, const std::string& keys) {
  const std::string whom = workers == 1 ? "1 worker" : fmt::format("{} workers", workers);
  return fmt::format("listening on {}: waiting for {}; join with: thalweg node --join {} --keys {}", address,
                     whom, address, keys);
}

int lead(const Arguments& arguments) {
  for (const std::string_view flag : {"--group", "--name", "--rejoin-for", "--log"}) {
    if (arguments.has(flag)) {
      return report_error(not_understood(fmt::format("{}: does not go with --root", flag)));
    }
  }
  Result<Config> config = read_job(arguments);
  if (!config) return report_error(config.error());
  if (arguments.has("--print-config")) return show_job(*config);
  Result<ListenOptions> listen = listen_options(*config, arguments);
  if (!listen) return report_error(listen.error());
  const Result<fs::path> folder = ready_folder(*config, arguments);
  if (!folder) return report_error(folder.error());
  if (!arguments.has("--resume")) config->run.out = folder->string();
  if (listen->keys.empty()) {
    Result<fs::path> keys = local_keys(*folder);
    if (!keys) return report_error(keys.error());
    listen->keys = *keys;
  }

  const std::size_t awaited = config->topology.workers - listen->workers;
  return run_training(*config, arguments, [&](ClusterOptions& options, Display& display) {
    options.listen = *listen;
    options.listen->on_listening = [&](const std::string& address) {
      display.note(listening_line(address, awaited, keys_to_join(address, listen->keys)));
      if (Status told = tell_address(*folder, address); !told) display.note(told.error().text);
    };
    if (!arguments.has("--quiet")) {
      options.listen->on_note = [&display](const std::string& line) { display.note(line); };
    }
    options.on_event = [&](const RunEvent& event) {
      // While the folder is still this process's.
      if (std::holds_alternative<Ended>(event)) (void)forget_address(*folder);
    };
  });
}

}  // namespace

int run_node(const Arguments& arguments) {
  if (arguments.has("--root") == arguments.has("--join")) {
    return report_error(not_understood(
        arguments.has("--root") ? "--root and --join: a node does one of them"
                                : "--root or --join is missing: a node begins a run or joins one"));
  }
  return arguments.has("--root") ? lead(arguments) : join(arguments);
}

}  // namespace thalweg::cli
