#include "tools/cli/stop_signals.hpp"

#include <array>
#include <pthread.h>
#include <unistd.h>
#include <utility>

namespace thalweg::cli {
namespace {

/// Sent by the destructor to its own thread, to end its wait.
constexpr int wake_signal = SIGUSR1;

constexpr std::array stop_signals{SIGINT, SIGTERM, SIGHUP};

/// A shell's background job and nohup have some signals ignored on purpose.
bool is_ignored(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

/// All that a signal handler does here.
void end_at_once(int signal) { _exit(128 + signal); }

}  // namespace

StopSignals::StopSignals(std::function<void()> notice) : notice_(std::move(notice)) {
  sigemptyset(&watched_);
  for (const int signal : stop_signals) {
    if (!is_ignored(signal)) sigaddset(&watched_, signal);
  }
  sigaddset(&watched_, wake_signal);
  pthread_sigmask(SIG_BLOCK, &watched_, nullptr);
  thread_ = std::thread([this] { wait_for_signals(); });
}

StopSignals::~StopSignals() {
  done_ = true;
  pthread_kill(thread_.native_handle(), wake_signal);
  thread_.join();
}

void StopSignals::wait_for_signals() {
  sigset_t waited = watched_;
  while (!done_) {
    int signal = 0;
    if (sigwait(&waited, &signal) != 0 || signal == wake_signal) continue;
    // Before anything that might hold this thread up: from now on the same keys end the process.
    struct sigaction ending {};
    ending.sa_handler = end_at_once;
    for (const int stopping : stop_signals) {
      if (sigismember(&watched_, stopping) == 1) sigaction(stopping, &ending, nullptr);
      sigdelset(&waited, stopping);
    }
    pthread_sigmask(SIG_SETMASK, &waited, nullptr);

    const std::lock_guard lock(mutex_);
    exit_code_ = 128 + signal;
    notice_();
    if (stop_) stop_();
  }
}

void StopSignals::on_stop(std::function<void()> stop) {
  const std::lock_guard lock(mutex_);
  stop_ = std::move(stop);
  if (exit_code_ != 0) stop_();
}

void StopSignals::forget() {
  const std::lock_guard lock(mutex_);
  stop_ = nullptr;
}

int StopSignals::exit_code() const { return exit_code_; }

}  // namespace thalweg::cli
