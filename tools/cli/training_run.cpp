#include "tools/cli/training_run.hpp"

#include "actors/run_folder.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/stop_signals.hpp"
#include "tools/cli/subcommands.hpp"
#include "tools/cli/terminal.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace thalweg::cli {
namespace fs = std::filesystem;

std::string resumed_folder(const Arguments& arguments) { return arguments.value("--resume").value_or(""); }

Result<Config> read_job(const Arguments& arguments) {
  const Result<std::vector<Override>> overrides = arguments.overrides();
  if (!overrides) return overrides.error();
  if (arguments.has("--resume")) {
    const fs::path folder = resumed_folder(arguments);
    if (folder.empty()) return Error{ErrorCode::invalid, "--resume '': names no folder: give a run folder"};
    if (!arguments.positionals.empty()) {
      return Error{ErrorCode::invalid, fmt::format("{}: not expected beside --resume: the job is {}",
                                                   arguments.positionals[0], (folder / "job.toml").string())};
    }
    // A folder without a job is refused where it is opened, with more to say.
    std::error_code unknown;
    if (!fs::exists(folder / "job.toml", unknown) && !arguments.has("--print-config")) return Config{};
    return load_config(folder / "job.toml", *overrides);
  }
  if (!arguments.positionals.empty() && arguments.positionals[0].empty()) {
    return Error{ErrorCode::invalid,
                 "'' is no job file: name one, or leave it out to train with defaults and flags"};
  }
  return load_config(arguments.positionals.empty() ? "" : arguments.positionals[0], *overrides);
}

namespace {

Detail detail_of(const Arguments& arguments) {
  if (arguments.has("--quiet")) return Detail::quiet;
  return arguments.has("--verbose") ? Detail::verbose : Detail::normal;
}

/// The results, where they belong: the block on stdout, or with --json the object there and the block on
/// stderr.
Status print_summary(const Summary& summary, const Arguments& arguments) {
  const std::string block = result_block(summary, arguments.has("--verbose"));
  if (!arguments.has("--json")) return print_result(block);
  if (!arguments.has("--quiet")) print_progress(block);
  return print_result(actors::summary_json(summary) + "\n");
}

/// The whole run. `signals` outlives the cluster that it stops. `ended` becomes the summary also of a run
/// that failed after it had begun.
Status run_cluster(const Config& config, const Arguments& arguments, Display& display, StopSignals& signals,
                   ClusterOptions options, std::optional<Summary>& ended) {
  options.on_event = [&, first = std::move(options.on_event)](const RunEvent& event) {
    if (first) first(event);
    display.show(event);
    if (const auto* end = std::get_if<Ended>(&event)) ended = end->summary;
  };
  const Result<std::vector<Override>> changes = arguments.overrides();
  if (!changes) return changes.error();
  Result<Cluster> cluster = arguments.has("--resume")
                                ? Cluster::resume(resumed_folder(arguments), *changes, std::move(options))
                                : Cluster::start(config, std::move(options));
  if (!cluster) return cluster.error();
  signals.on_stop([&cluster] { cluster->stop(); });
  Result<Summary> summary = cluster->wait();
  signals.forget();
  if (summary) {
    ended = *summary;
    return {};
  }
  if (ended && ended->failure.empty()) {
    // Training went well, but what came of it could not be saved.
    ended->end = "failed";
    ended->failure = summary.error().text;
  }
  return summary.error();
}

}  // namespace

Result<fs::path> ready_folder(const Config& config, const Arguments& arguments) {
  if (!arguments.has("--resume")) return actors::RunFolder::prepare(config);
  fs::path folder = resumed_folder(arguments);
  if (const auto run = actors::RunFolder::reopen(folder); !run) return run.error();
  return folder;
}

int show_job(const Config& config) {
  const Status printed = print_result(print_config(config));
  return printed ? 0 : report_error(printed.error());
}

int run_training(const Config& config, const Arguments& arguments,
                 const std::function<void(ClusterOptions&, Display&)>& extend) {
  DisplayOptions options;
  options.terminal = look_at_terminal();
  options.detail = detail_of(arguments);
  Display display(config, std::move(options));
  StopSignals signals([&display] { display.note("stopping after this round; press again to end at once"); });

  ClusterOptions of_cluster;
  of_cluster.timeline = timeline_page;
  if (extend) extend(of_cluster, display);
  std::optional<Summary> summary;
  const Status ran = run_cluster(config, arguments, display, signals, std::move(of_cluster), summary);
  display.finish();
  if (summary) {
    const Status printed = print_summary(*summary, arguments);
    if (!printed) return report_error(printed.error());
  }
  if (!ran) {
    const bool diverged = ran.error().code == ErrorCode::diverged;
    return report_error({ran.error().code, (diverged ? "training diverged: " : "") + ran.error().text});
  }
  return signals.exit_code();
}

}  // namespace thalweg::cli
