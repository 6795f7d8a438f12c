#pragma once

#include "gpu/event.hpp"

#include <condition_variable>
#include <mutex>

namespace thalweg::gpu::host {

/// A point in a host stream's work. The stream's thread finishes it, once; any thread asks and waits.
class HostEvent final : public Event::State {
 public:
  /// `status`: the first error of the stream so far.
  void finish(Status status) {
    {
      const std::lock_guard lock(mutex_);
      status_ = std::move(status);
      ready_ = true;
    }
    passed_.notify_all();
  }

  [[nodiscard]] bool ready() const override {
    const std::lock_guard lock(mutex_);
    return ready_;
  }

  Status wait() override {
    std::unique_lock lock(mutex_);
    passed_.wait(lock, [this] { return ready_; });
    return status_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable passed_;
  bool ready_ = false;
  Status status_;
};

}  // namespace thalweg::gpu::host
