#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// The real program as a child process: started with arguments, read, signalled and waited for, each within a
/// time limit. Nothing here sleeps: every wait is for bytes of the child or for its end.
namespace thalweg::testing {

struct ProcessOptions {
  std::filesystem::path folder = ".";                   ///< its working directory
  std::map<std::string, std::string> environment = {};  ///< added to this process's own
  bool terminal = false;                                ///< stderr is a terminal of 100 columns
  bool closed_stdout = false;                           ///< nobody reads its stdout
  std::string program = {};                             ///< empty: what THALWEG_PROGRAM names
  std::chrono::milliseconds limit = std::chrono::seconds(50);
};

/// How a process ended.
struct Finished {
  int exit_code = -1;      ///< what a shell would say: 128 + signal when one killed it
  bool timed_out = false;  ///< it was killed since its limit had passed
  std::string out, err;
};

class Process {
 public:
  /// Starts `options.program`.
  explicit Process(const std::vector<std::string>& arguments, ProcessOptions options = {});
  ~Process();  ///< kills it if it still runs
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Waits until stderr holds `text`. False when it ended, or its limit passed, without.
  bool wait_for_err(std::string_view text);

  void send(int signal) const;

  [[nodiscard]] int pid() const { return pid_; }

  Finished wait();

 private:
  bool pump();
  void read_some(int& fd, std::string& text);

  ProcessOptions options_;
  std::chrono::steady_clock::time_point deadline_;
  int pid_ = -1;
  int pid_fd_ = -1;  ///< readable once the process has ended
  int out_fd_ = -1;
  int err_fd_ = -1;
  bool ended_ = false;
  Finished finished_;
};

/// Runs the program to its end.
Finished run_program(const std::vector<std::string>& arguments, ProcessOptions options = {});

}  // namespace thalweg::testing
