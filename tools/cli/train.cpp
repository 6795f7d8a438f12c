#include "tools/cli/subcommands.hpp"
#include "tools/cli/terminal.hpp"
#include "tools/cli/training_run.hpp"

namespace thalweg::cli {

int run_train(const Arguments& arguments) {
  const Result<Config> config = read_job(arguments);
  if (!config) return report_error(config.error());
  return arguments.has("--print-config") ? show_job(*config) : run_training(*config, arguments);
}

}  // namespace thalweg::cli
