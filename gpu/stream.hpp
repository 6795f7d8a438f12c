#pragma once

#include "gpu/event.hpp"

#include <thalweg/result.hpp>

#include <functional>
#include <string_view>

/// An ordered queue of work on a device. Each worker owns one. On the host it is one plain thread (never a
/// pool's or an actor's) with oneDNN held to one thread; in tests it may run inline.
namespace thalweg::gpu {

class Stream {
 public:
  /// Work: runs on the stream's thread, calls ops with this stream.
  using Work = std::function<Status(Stream&)>;
  /// Told how the work ended, on the stream's thread, after the device has finished it. It may only post a
  /// message: no waiting, no device calls. An exception thrown by the work arrives here as its text.
  using Done = std::function<void(Status)>;

  /// Destruction finishes the work that was submitted.
  virtual ~Stream() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;

  /// Queues `work`, then `done`. Any thread; returns at once (an inline stream runs both before it returns).
  virtual void submit(Work work, Done done) = 0;

  /// An event that is ready when everything submitted so far has finished.
  virtual Event record() = 0;
};

}  // namespace thalweg::gpu
