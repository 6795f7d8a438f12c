#include "gpu/host/host_stream.hpp"

#include "gpu/host/kernels.hpp"
#include "runtime/check.hpp"

#include <exception>
#include <pthread.h>

namespace thalweg::gpu::host {
namespace {

Status run_guarded(Stream& stream, const Stream::Work& work) {
  try {
    return work(stream);
  } catch (const std::exception& exception) {
    return Error{ErrorCode::failed, exception.what()};
  } catch (...) {
    return Error{ErrorCode::failed,
                 "work on stream " + std::string(stream.name()) + ": threw something unknown"};
  }
}

}  // namespace

void EntryRunner::run(Stream& stream, StreamEntry entry) {
  if (entry.event) {
    entry.event->finish(first_error_);
    return;
  }
  auto status = entry.work ? run_guarded(stream, entry.work) : Status{};
  if (!status && first_error_.ok()) first_error_ = status;
  entry.work = nullptr;  // what it held is free before anyone hears that it is done
  if (!entry.done) return;
  try {
    entry.done(std::move(status));
  } catch (...) {
    THALWEG_CHECK(false, "a stream's done callback does not throw");
  }
}

HostStream::HostStream(std::string name) : name_(std::move(name)), thread_([this] { serve(); }) {}

HostStream::~HostStream() {
  THALWEG_CHECK(thread_.get_id() != std::this_thread::get_id(), "a stream is not destroyed by its own work");
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void HostStream::submit(Work work, Done done) { push({std::move(work), std::move(done), nullptr}); }

Event HostStream::record() {
  auto event = std::make_shared<HostEvent>();
  push({{}, {}, event});
  return Event(event);
}

void HostStream::push(StreamEntry entry) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(entry));
  }
  changed_.notify_one();
}

void HostStream::serve() {
  pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
  hold_to_one_thread();
  for (;;) {
    StreamEntry entry;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return closing_ || !queue_.empty(); });
      if (queue_.empty()) return;
      entry = std::move(queue_.front());
      queue_.pop_front();
    }
    runner_.run(*this, std::move(entry));
  }
}

void InlineStream::submit(Work work, Done done) { push({std::move(work), std::move(done), nullptr}); }

Event InlineStream::record() {
  auto event = std::make_shared<HostEvent>();
  push({{}, {}, event});
  return Event(event);
}

void InlineStream::push(StreamEntry entry) {
  queue_.push_back(std::move(entry));
  if (running_) return;
  running_ = true;
  while (!queue_.empty()) {
    auto next = std::move(queue_.front());
    queue_.pop_front();
    runner_.run(*this, std::move(next));
  }
  running_ = false;
}

}  // namespace thalweg::gpu::host
