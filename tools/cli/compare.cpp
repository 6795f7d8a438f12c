#include "models/durable_file.hpp"
#include "tools/cli/display.hpp"
#include "tools/cli/stop_signals.hpp"
#include "tools/cli/subcommands.hpp"
#include "tools/cli/terminal.hpp"
#include "tools/compare/csv.hpp"
#include "tools/compare/experiment.hpp"
#include "tools/compare/json.hpp"
#include "tools/compare/methods.hpp"
#include "tools/compare/page.hpp"
#include "tools/compare/statistics.hpp"
#include "tools/compare/table.hpp"

#include <thalweg/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <limits>
#include <string>
#include <system_error>
#include <vector>

namespace thalweg::cli {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t seeds_max = 1000;
constexpr std::size_t seeds_otherwise = 3;
constexpr std::size_t table_width = 120;

/// All that is decided before anything runs.
struct Plan {
  compare::Comparison comparison;
  std::vector<Config> configs;  ///< one for each contestant, with the first seed
};

bool is_number(const std::string& typed, double& number) {
  const char* const end = typed.data() + typed.size();
  const auto [rest, error] = std::from_chars(typed.data(), end, number);
  return error == std::errc() && rest == end;
}

Result<std::optional<double>> target_of(const Arguments& arguments) {
  const auto typed = arguments.value("--target-accuracy");
  if (!typed) return std::optional<double>();
  double target = 0;
  if (is_number(*typed, target) && target > 0 && target <= 1) return std::optional(target);
  return Error{ErrorCode::invalid,
               fmt::format("--target-accuracy {}: give a share above 0 and up to 1, as 0.9", *typed)};
}

Result<std::vector<compare::Contestant>> contestants_of(const Arguments& arguments) {
  const auto methods = arguments.value("--methods");
  if (!methods) {
    return Error{ErrorCode::invalid,
                 "--methods is missing: name what to compare, for example --methods 'ssgd,asp,inhad(2)'"};
  }
  std::vector<compare::OwnSettings> own;
  for (const auto& [name, value] : arguments.flags) {
    if (name != "--with") continue;
    const auto each = compare::parse_with(value);
    if (!each) return each.error();
    own.push_back(*each);
  }
  return compare::make_contestants(*methods, own, !arguments.has("--no-equal"));
}

/// The flags that hold for all. Fails: `invalid` for keys that this command decides itself.
Result<std::vector<Override>> shared_overrides(const Arguments& arguments) {
  auto overrides = arguments.overrides();
  if (!overrides) return overrides;
  for (const Override& each : *overrides) {
    if (each.key == "sync.method") {
      return Error{ErrorCode::invalid, "--set sync.method: the methods are named in --methods"};
    }
    if (each.key == "run.out") return Error{ErrorCode::invalid, "--set run.out: use --out"};
  }
  return overrides;
}

/// The job of one contestant. What is wrong with a setting of its own names it as it was typed.
Result<Config> config_of(const std::string& job, std::vector<Override> overrides,
                         const compare::Contestant& contestant) {
  overrides.push_back({"sync.method", contestant.method, "--methods"});
  for (const compare::Setting& setting : contestant.own) {
    overrides.push_back({setting.key, setting.value, ""});
  }
  Result<Config> config = load_config(job, overrides);
  if (config || contestant.own.empty()) return config;
  return Error{config.error().code, fmt::format("--with {}: {}", contestant.method, config.error().text)};
}

/// Everything that can be wrong with what was typed is found here, before minutes are spent on running.
Result<Plan> make_plan(const Arguments& arguments) {
  const std::string job = arguments.positionals.empty() ? "" : arguments.positionals[0];
  if (!arguments.positionals.empty() && job.empty()) {
    return Error{ErrorCode::invalid,
                 "'' is no job file: name one, or leave it out to compare with defaults and flags"};
  }
  const auto seeds = arguments.count("--seeds", {1, seeds_max, seeds_otherwise});
  if (!seeds) return seeds.error();
  const auto target = target_of(arguments);
  if (!target) return target.error();
  const auto overrides = shared_overrides(arguments);
  if (!overrides) return overrides.error();
  const Result<Config> shared = load_config(job, *overrides);
  if (!shared) return shared.error();
  const auto contestants = contestants_of(arguments);
  if (!contestants) return contestants.error();

  Plan plan;
  for (const compare::Contestant& contestant : *contestants) {
    const Result<Config> config = config_of(job, *overrides, contestant);
    if (!config) return config.error();
    plan.configs.push_back(*config);
  }
  const std::uint64_t first = shared->run.seed;
  if (first > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) - *seeds) {
    return Error{ErrorCode::invalid,
                 fmt::format("--seed {}: too large to count {} seeds from", first, *seeds)};
  }
  plan.comparison.job = *shared;
  plan.comparison.contestants = *contestants;
  for (std::size_t i = 0; i < *seeds; ++i) plan.comparison.seeds.push_back(first + i);
  plan.comparison.asked_target = *target;
  plan.comparison.version = std::string(version());
  return plan;
}

/// Makes the folder of the comparison: the one named, which must be new or empty, or the next free one.
Result<fs::path> make_folder(const Arguments& arguments) {
  std::error_code error;
  if (const auto typed = arguments.value("--out")) {
    if (typed->empty()) return Error{ErrorCode::invalid, "--out '': names no folder"};
    if (fs::exists(*typed, error) && !(fs::is_directory(*typed, error) && fs::is_empty(*typed, error))) {
      return Error{ErrorCode::invalid,
                   fmt::format("--out {}: is no empty folder: choose another one, or remove it", *typed)};
    }
    fs::create_directories(*typed, error);
    if (error) {
      return Error{ErrorCode::io, fmt::format("cannot make the folder {}: {}", *typed, error.message())};
    }
    return fs::path(*typed);
  }
  fs::create_directories("runs", error);
  for (std::size_t number = 1; !error; ++number) {
    fs::path folder = fs::path("runs") / fmt::format("compare-{}", number);
    if (fs::create_directory(folder, error)) return folder;
  }
  return Error{ErrorCode::io, fmt::format("cannot make a folder in runs: {}", error.message())};
}

Status write_file(const fs::path& file, const std::string& text) {
  const std::array parts = {std::as_bytes(std::span(text))};
  return models::write_durably(file, parts);
}

/// The three files, as far as the comparison has got: what a program that is killed leaves is whole.
Status write_files(const compare::Comparison& comparison) {
  const double target = compare::target_of(comparison);
  const auto figures = compare::figures_of(comparison, target);
  const std::array<std::pair<const char*, std::string>, 3> files = {
      {{"compare.csv", compare::csv_text(comparison, target)},
       {"compare.json", compare::comparison_json(comparison, figures, target) + "\n"},
       {"compare.html", compare::page_html(comparison, figures, target)}}};
  for (const auto& [name, text] : files) {
    if (Status written = write_file(comparison.folder / name, text); !written) return written;
  }
  return {};
}

/// One run, shown as it goes.
compare::Run run_shown(const Config& config, bool quiet) {
  DisplayOptions options;
  options.terminal = look_at_terminal();
  options.detail = quiet ? Detail::quiet : Detail::normal;
  Display display(config, std::move(options));
  compare::Run run = compare::run_once(config, [&display](const RunEvent& event) { display.show(event); });
  display.finish();
  return run;
}

/// Runs what is planned, one after the other, until all is done or somebody asks to stop.
Status run_all(Plan& plan, const StopSignals& signals, bool quiet) {
  compare::Comparison& comparison = plan.comparison;
  for (std::size_t i = 0; i < comparison.seeds.size(); ++i) {
    for (const std::size_t index : compare::running_order(comparison.contestants.size(), i)) {
      if (signals.exit_code() != 0) return {};
      const compare::Contestant& contestant = comparison.contestants[index];
      Config config = plan.configs[index];
      config.run.seed = comparison.seeds[i];
      config.run.out = (comparison.folder / compare::folder_name(contestant, config.run.seed)).string();
      if (!quiet) {
        print_progress(fmt::format("run {} of {}: {}, seed {}\n", comparison.runs.size() + 1,
                                   comparison.planned_runs(), contestant.label, config.run.seed));
      }
      compare::Run run = run_shown(config, quiet);
      run.contestant = index;
      if (!run.summary.failure.empty()) {
        print_progress(fmt::format("{}, seed {} {}: {}\n", contestant.label, run.seed, run.summary.end,
                                   run.summary.failure));
      }
      comparison.runs.push_back(std::move(run));
      if (Status written = write_files(comparison); !written) return written;
    }
  }
  return {};
}

std::string results_text(const compare::Comparison& comparison) {
  const double target = compare::target_of(comparison);
  const auto figures = compare::figures_of(comparison, target);
  std::string text = compare::job_words(comparison) + "\n\n";
  text += compare::table_text(compare::table_columns(comparison, figures, target), table_width) + "\n";
  for (const std::string& note : compare::table_notes(comparison, figures, target)) text += note + "\n";
  return text + fmt::format("\npage  {}\n", (comparison.folder / "compare.html").string());
}

Status print_results(const compare::Comparison& comparison, const Arguments& arguments) {
  const std::string text = results_text(comparison);
  if (!arguments.has("--json")) return print_result(text);
  if (!arguments.has("--quiet")) print_progress(text);
  const double target = compare::target_of(comparison);
  return print_result(compare::comparison_json(comparison, compare::figures_of(comparison, target), target) +
                      "\n");
}

}  // namespace

int run_compare(const Arguments& arguments) {
  Result<Plan> plan = make_plan(arguments);
  if (!plan) return report_error(plan.error());
  const Result<fs::path> folder = make_folder(arguments);
  if (!folder) return report_error(folder.error());
  plan->comparison.folder = *folder;

  const StopSignals signals(
      [] { print_progress("\nstopping after this run; press again to end at once\n"); });
  const Status ran = run_all(*plan, signals, arguments.has("--quiet"));
  if (!ran) return report_error(ran.error());
  const auto& runs = plan->comparison.runs;
  const Status printed = print_results(plan->comparison, arguments);
  if (!printed) return report_error(printed.error());
  if (signals.exit_code() != 0) return signals.exit_code();
  // A run that diverges is a result; one that fails is not.
  return std::ranges::any_of(runs, [](const auto& run) { return run.summary.end == "failed"; }) ? 1 : 0;
}

}  // namespace thalweg::cli
