#include "gpu/device.hpp"
#include "models/durable_file.hpp"
#include "tools/bench/benches.hpp"
#include "tools/cli/subcommands.hpp"
#include "tools/cli/terminal.hpp"

#include <thalweg/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace thalweg::cli {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t pairs_max = 10'000;

/// The benches named, in the order typed; all when none is.
Result<std::vector<bench::Bench>> chosen_benches(const Arguments& arguments) {
  const std::vector<bench::Bench> all = bench::all_benches();
  if (arguments.positionals.empty()) return all;
  std::vector<std::string> names(all.size());
  std::ranges::transform(all, names.begin(), &bench::Bench::name);
  std::vector<bench::Bench> chosen;
  for (const std::string& typed : arguments.positionals) {
    const auto found = std::ranges::find(all, typed, &bench::Bench::name);
    if (found == all.end()) {
      return Error{ErrorCode::invalid,
                   fmt::format("{}: unknown bench{}", typed, advice(typed, names, "thalweg bench --help"))};
    }
    chosen.push_back(*found);
  }
  return chosen;
}

/// Whether --out names a place where a file can be: found out before minutes are spent on measuring.
Status check_place(const std::string& file) {
  std::error_code unknown;
  const fs::path folder = fs::path(file).has_parent_path() ? fs::path(file).parent_path() : ".";
  if (file.empty() || !fs::is_directory(folder, unknown)) {
    return Error{ErrorCode::invalid,
                 fmt::format("--out '{}': its folder is not there: make it, or name another file", file)};
  }
  // Links are not followed: the file is made anew beside its name, and takes the place of what is there.
  const auto kind = fs::symlink_status(file, unknown).type();
  if (kind == fs::file_type::regular || kind == fs::file_type::not_found) return {};
  return Error{ErrorCode::invalid, fmt::format("--out {}: is there, and is no file: name another one", file)};
}

Status write_file(const std::string& file, const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  const std::array<std::span<const std::byte>, 1> parts = {bytes};
  return models::write_durably(file, parts);
}

}  // namespace

int run_bench(const Arguments& arguments) {
  const SteadyClock clock;
  const bool json = arguments.has("--json");
  bench::Settings settings{clock};
  const auto benches = chosen_benches(arguments);
  if (!benches) return report_error(benches.error());
  const auto pairs = arguments.count("--pairs", {1, pairs_max, settings.pairs});
  if (!pairs) return report_error(pairs.error());

  if (const auto file = arguments.value("--out")) {
    if (Status possible = check_place(*file); !possible) return report_error(possible.error());
  }

  const gpu::DeviceInfo device = gpu::open_host_device()->info();
  settings.pairs = *pairs;
  settings.small = arguments.has("--small");
  bench::Report report{
      std::string(version()), device.hardware, device.library, device.cores, *pairs, settings.small, {}};
  Status printed;
  settings.on_comparison = [&](const bench::Comparison& comparison) {
    report.comparisons.push_back(comparison);
    const std::string text = bench::comparison_text(comparison);
    if (json) {
      print_progress(text);
    } else if (printed) {
      printed = print_result(text);
    }
  };
  for (const bench::Bench& each : *benches) {
    if (Status ran = each.run(settings); !ran) return report_error(ran.error());
  }

  const std::string object = bench::report_json(report) + "\n";
  if (const auto file = arguments.value("--out")) {
    if (Status written = write_file(*file, object); !written) return report_error(written.error());
  }
  if (json) {
    printed = print_result(object);
  } else if (printed) {
    printed = print_result("\n" + bench::comparison_table(report.comparisons));
  }
  return printed ? 0 : report_error(printed.error());
}

}  // namespace thalweg::cli
