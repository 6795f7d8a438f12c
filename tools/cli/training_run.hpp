#pragma once

#include "tools/cli/arguments.hpp"
#include "tools/cli/display.hpp"

#include <thalweg/cluster.hpp>

#include <filesystem>
#include <functional>
#include <string>

/// A run as `thalweg train` makes it, for the commands that make one: from what was typed to the exit code.
namespace thalweg::cli {

/// The run folder behind --resume; empty: a new run.
std::string resumed_folder(const Arguments& arguments);

/// The job that was typed: of the job file, of the folder behind --resume, or of flags alone.
/// Fails: as load_config; `invalid` when --resume and a job file are both there.
Result<Config> read_job(const Arguments& arguments);

/// The folder of the run that is about to begin, made, or to go on, for those who put something there before
/// the run does. Fails: as RunFolder::prepare and RunFolder::reopen.
Result<std::filesystem::path> ready_folder(const Config& config, const Arguments& arguments);

/// --print-config. Returns the exit code.
int show_job(const Config& config);

/// Trains: shows the run as it goes, stops it at a signal, prints its results. `extend` adds to the options
/// that the cluster is started with; its on_event is called before the display's. Returns the exit code.
/// Requires: no other thread of the process yet.
int run_training(const Config& config, const Arguments& arguments,
                 const std::function<void(ClusterOptions&, Display&)>& extend = {});

}  // namespace thalweg::cli
