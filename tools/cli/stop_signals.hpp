#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <signal.h>
#include <thread>

/// Ctrl-C and SIGTERM. The first one becomes a call on a thread of its own, no signal handler, so that it may
/// stop a cluster, which takes locks. The second one ends the process at once.
namespace thalweg::cli {

class StopSignals {
 public:
  /// Blocks the signals in the calling thread and in every thread made after, and starts waiting for them.
  /// `notice` is called at the first one.
  /// Requires: made before any other thread of the process.
  explicit StopSignals(std::function<void()> notice);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// From now on the first signal calls `stop`; at once when it has come already.
  void on_stop(std::function<void()> stop);

  /// `stop` is not called any more, nor running.
  void forget();

  /// 0, or the exit code that says which signal came first: 130, 143 or 129 (the terminal is gone). Any
  /// thread, also from within `stop`.
  [[nodiscard]] int exit_code() const;

 private:
  void wait_for_signals();

  const std::function<void()> notice_;
  sigset_t watched_{};
  mutable std::mutex mutex_;  ///< guards `stop_`
  std::function<void()> stop_;
  std::atomic<int> exit_code_ = 0;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace thalweg::cli
