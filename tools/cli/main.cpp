#include "tools/cli/arguments.hpp"
#include "tools/cli/help.hpp"
#include "tools/cli/subcommands.hpp"
#include "tools/cli/terminal.hpp"

#include <thalweg/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

/// The program: finds the subcommand, lets it run, and returns its exit code.
namespace thalweg::cli {
namespace {

int print(const std::string& text) {
  const Status printed = print_result(text);
  return printed ? 0 : report_error(printed.error());
}

int unknown_command(const std::string& typed, const std::vector<Command>& commands) {
  std::vector<std::string> known = {"--help", "--version"};
  if (!typed.starts_with('-')) {
    known.resize(commands.size());
    std::ranges::transform(commands, known.begin(), &Command::name);
  }
  const char* what = typed.starts_with('-') ? "flag" : "command";
  return report_error({ErrorCode::invalid,
                       fmt::format("{}: unknown {}{}", typed, what, advice(typed, known, "thalweg --help"))});
}

int run_command(const Command& command, const std::vector<std::string>& typed) {
  const Result<Arguments> arguments = parse_arguments(command, typed);
  if (!arguments) return report_error(arguments.error());
  if (arguments->has("--help")) return print(command_help(command));
  if (command.name == "train") return run_train(*arguments);
  if (command.name == "launch") return run_launch(*arguments);
  if (command.name == "node") return run_node(*arguments);
  if (command.name == "eval") return run_eval(*arguments);
  if (command.name == "devices") return run_devices(*arguments);
  if (command.name == "bench") return run_bench(*arguments);
  if (command.name == "compare") return run_compare(*arguments);
  if (command.name == "keys") return run_keys(*arguments);
  if (command.name == "doctor") return run_doctor(*arguments);
  if (command.name == "status") return run_status(*arguments);
  if (command.name == "log") return run_log(*arguments);
  return run_init(*arguments);
}

int run(const std::vector<std::string>& typed) {
  const std::vector<Command> commands = all_commands();
  if (typed.empty()) {
    print_progress(program_help(commands));
    return exit_code_of(ErrorCode::invalid);
  }
  if (typed[0] == "--help" || typed[0] == "-h") return print(program_help(commands));
  if (typed[0] == "--version") return print(fmt::format("thalweg {}\n", version()));
  for (const Command& command : commands) {
    if (command.name == typed[0]) return run_command(command, {typed.begin() + 1, typed.end()});
  }
  return unknown_command(typed[0], commands);
}

}  // namespace
}  // namespace thalweg::cli

int main(int argc, char** argv) {
  // Were one of the three standard streams closed, the next file opened would take its place and be written
  // to.
  while (true) {
    const int fd = open("/dev/null", O_RDWR);
    if (fd > STDERR_FILENO) close(fd);
    if (fd < 0 || fd > STDERR_FILENO) break;
  }
  // A reader of stdout that goes away shows as a failed write, and a run is not lost to a closed pipe.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its size limit is an error of that write, which names the file
  try {
    return thalweg::cli::run({argv + (argc > 0 ? 1 : 0), argv + argc});
  } catch (const std::exception& error) {
    return thalweg::cli::report_error(
        {thalweg::ErrorCode::failed, std::string("this is a bug: ") + error.what()});
  }
}
