#pragma once

#include "tools/cli/arguments.hpp"

#include <filesystem>
#include <string>

/// The subcommands, one file each. Each takes what was typed, writes results to stdout and the rest to
/// stderr, and returns the exit code.
namespace thalweg::cli {

int run_train(const Arguments& arguments);
int run_launch(const Arguments& arguments);
int run_node(const Arguments& arguments);
int run_eval(const Arguments& arguments);
int run_devices(const Arguments& arguments);
int run_init(const Arguments& arguments);
int run_bench(const Arguments& arguments);
int run_compare(const Arguments& arguments);
int run_keys(const Arguments& arguments);
int run_doctor(const Arguments& arguments);
int run_status(const Arguments& arguments);
int run_log(const Arguments& arguments);

/// The timeline of a run that may be going on, as one page; when it cannot be made, a page that says why.
std::string timeline_page(const std::filesystem::path& run);

}  // namespace thalweg::cli
