#include "tools/cli/stop_signals.hpp"

#include <pthread.h>
#include <unistd.h>
#include <utility>

namespace thalweg::cli {
namespace {

/// Sent by the destructor to its own thread, to end its wait.
constexpr int wake_signal = SIGUSR1;

/// All that a signal handler does here.
void end_at_once(int signal) { _exit(128 + signal); }

}  // namespace

StopSignals::StopSignals(std::function<void()> notice) : notice_(std::move(notice)) {
  sigemptyset(&watched_);
  sigaddset(&watched_, SIGINT);
  sigaddset(&watched_, SIGTERM);
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
    sigaction(SIGINT, &ending, nullptr);
    sigaction(SIGTERM, &ending, nullptr);
    sigdelset(&waited, SIGINT);
    sigdelset(&waited, SIGTERM);
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

int StopSignals::exit_code() const {
  const std::lock_guard lock(mutex_);
  return exit_code_;
}

}  // namespace thalweg::cli
