#pragma once

#include "gpu/host/host_event.hpp"
#include "gpu/stream.hpp"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

/// Streams of the host. A worker submits its step here and goes on; the stream computes it on a thread of its
/// own, so that no scheduler's thread is ever kept busy by arithmetic, and `done` posts the result back.
///
///     submit ──▶ queue ──▶ work ──▶ done
///     record ──▶ queue ──▶ event ready, with the first error so far
namespace thalweg::gpu::host {

/// What waits in a stream: work to run, or an event to finish.
struct StreamEntry {
  Stream::Work work;
  Stream::Done done;
  std::shared_ptr<HostEvent> event;  ///< when set, the other two are empty
};

/// Runs entries and remembers the first error, for the events after it. Work that follows a failed one runs
/// all the same: only its submitter knows whether it still makes sense.
class EntryRunner {
 public:
  void run(Stream& stream, StreamEntry entry);

 private:
  Status first_error_;
};

/// One plain thread and a queue. The thread is named after the stream (its first 15 characters) and computes
/// alone: no library starts a team from it.
class HostStream final : public Stream {
 public:
  explicit HostStream(std::string name);
  /// Requires: not called by its own work or `done`, which it waits for.
  ~HostStream() override;

  [[nodiscard]] std::string_view name() const override { return name_; }
  void submit(Work work, Done done) override;
  Event record() override;

 private:
  void push(StreamEntry entry);
  void serve();

  const std::string name_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<StreamEntry> queue_;  ///< bounded by its owner: a worker has at most two steps in flight
  bool closing_ = false;
  EntryRunner runner_;  ///< the thread's own
  std::thread thread_;
};

/// For tests: runs everything on the caller's thread before `submit` returns. Work that submits more work has
/// it run after itself, as in a real stream. One thread at a time.
class InlineStream final : public Stream {
 public:
  explicit InlineStream(std::string name) : name_(std::move(name)) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  void submit(Work work, Done done) override;
  Event record() override;

 private:
  void push(StreamEntry entry);

  const std::string name_;
  std::deque<StreamEntry> queue_;
  bool running_ = false;
  EntryRunner runner_;
};

}  // namespace thalweg::gpu::host
