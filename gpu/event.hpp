#pragma once

#include <thalweg/result.hpp>

#include <functional>
#include <memory>

namespace thalweg::gpu {

/// A point in a stream's work. A plain value; copies are the same event. Recorded by `Stream::record`.
class Event {
 public:
  class State {
   public:
    virtual ~State() = default;
    [[nodiscard]] virtual bool ready() const = 0;
    virtual Status wait() = 0;
  };

  Event() = default;  ///< an event that is ready
  explicit Event(std::shared_ptr<State> state) : state_(std::move(state)) {}

  /// Whether the stream has passed it.
  [[nodiscard]] bool ready() const { return !state_ || state_->ready(); }

  /// Blocks until the stream has passed it. For tests and tools: actors get messages instead.
  /// Fails: with the error of the first work that failed in the stream before it.
  Status wait() { return state_ ? state_->wait() : Status{}; }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace thalweg::gpu
