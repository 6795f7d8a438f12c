#pragma once

#include <thalweg/result.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

/// Child processes that never outlive their parent. For the launcher, which waits for them in its loop.
namespace thalweg::launch {

/// What to run.
struct Command {
  std::filesystem::path program;  ///< not looked for in PATH
  std::vector<std::string> arguments;
  std::filesystem::path output;  ///< stdout and stderr are appended to it; empty: they are the parent's
};

/// How a process ended.
struct Ending {
  int code = 0;    ///< its exit code, unless a signal ended it
  int signal = 0;  ///< 0: it ended by itself

  /// What a shell calls it: 128 + signal.
  [[nodiscard]] int exit_code() const { return signal == 0 ? code : 128 + signal; }
  [[nodiscard]] std::string text() const;  ///< "was killed by signal 9", "ended with exit code 1"
};

/// Starts `command` in the process group of its parent. The system kills it when the thread that called this
/// ends, however that ends. It ignores SIGINT and SIGHUP, which a terminal sends to the whole group: its
/// parent decides what they mean. Its stdin is empty.
/// Fails: `io`, when its output cannot be opened or the system cannot run it.
Result<pid_t> start(const Command& command);

/// How the child `process` ended, which is then gone; nothing while it runs.
std::optional<Ending> look_for_end(pid_t process);

}  // namespace thalweg::launch
