#include "runtime/net/keys.hpp"

#include "tools/cli/subcommands.hpp"
#include "tools/cli/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::cli {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view cluster_folder = "keys";  // where `keys node` looks for the authority

Error not_understood(const std::string& text) {
  return {ErrorCode::invalid, text + ": see thalweg keys --help"};
}

int init(const fs::path& dir) {
  const Status made = net::create_authority(dir);
  if (!made) return report_error(made.error());
  const std::string of_cluster = dir == cluster_folder ? "" : " --dir " + dir.string();
  print_progress(fmt::format("made the authority in {}; give each node keys with: thalweg keys node NAME{}\n",
                             dir.string(), of_cluster));
  return 0;
}

int node(const std::string& name, const fs::path& dir) {
  const Result<fs::path> made = net::issue(dir, name);
  if (!made) return report_error(made.error());
  print_progress(
      fmt::format("made the keys of {} in {}; copy that folder to its machine, and check it there "
                  "with: thalweg keys check FOLDER\n",
                  name, made->string()));
  return 0;
}

std::string facts_text(const net::CertificateFacts& facts, std::string_view fingerprint) {
  return fmt::format("{:<12} {}\n{:<12} {}\n{:<12} {} to {}\n{:<12} {}\n", "subject", facts.subject, "issuer",
                     facts.issuer, "valid", net::utc_text(facts.valid_from), net::utc_text(facts.valid_until),
                     fingerprint, facts.fingerprint);
}

int check(const fs::path& dir) {
  const Result<net::KeysFacts> facts = net::check_keys(dir);
  if (!facts) return report_error(facts.error());
  std::string text = facts_text(facts->node ? *facts->node : facts->authority, "fingerprint");
  if (facts->node) text += fmt::format("{:<12} {}\n", "authority", facts->authority.fingerprint);
  const Status printed = print_result(text);
  return printed ? 0 : report_error(printed.error());
}

}  // namespace

int run_keys(const Arguments& arguments) {
  constexpr std::array<std::string_view, 3> known = {"init", "node", "check"};
  const std::string& what = arguments.positionals[0];
  if (std::ranges::find(known, what) == known.end()) {
    const std::vector<std::string> names(known.begin(), known.end());
    return report_error({ErrorCode::invalid, fmt::format("keys {}: is init, node or check{}", what,
                                                         advice(what, names, "thalweg keys --help"))});
  }
  if (arguments.positionals.size() < 2) {
    return report_error(
        not_understood(fmt::format("keys {} needs {}", what, what == "node" ? "a NAME" : "a DIR")));
  }
  const std::string& whose = arguments.positionals[1];
  if (what != "node" && arguments.has("--dir")) {
    return report_error(not_understood(fmt::format("--dir: goes with keys node; write keys {} DIR", what)));
  }
  if (what == "init") return init(whose);
  if (what == "check") return check(whose);
  return node(whose, arguments.value("--dir").value_or(std::string(cluster_folder)));
}

}  // namespace thalweg::cli
