#include "runtime/pool/task_pool.hpp"

#include "runtime/check.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace thalweg {
namespace {

/// Counts the tasks under way, so that the destructor knows when the last one is over. Tasks share it: the
/// one that reports last may still hold its lock when the pool is gone.
class Gate {
 public:
  void enter() {
    const std::lock_guard lock(mutex_);
    ++inside_;
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    if (--inside_ == 0) empty_.notify_all();
  }
  void wait_until_empty() {
    std::unique_lock lock(mutex_);
    empty_.wait(lock, [this] { return inside_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable empty_;
  std::size_t inside_ = 0;
};

struct Job {
  std::function<void()> task;
  std::shared_ptr<Gate> gate;
};

/// oneTBB has as many threads as the machine has cores, and complains about arenas that ask for more.
int arena_width(std::size_t threads) {
  const int cores = std::max(1, oneapi::tbb::info::default_concurrency());
  return threads == 0 ? cores : static_cast<int>(std::min(threads, static_cast<std::size_t>(cores)));
}

}  // namespace

struct TaskPool::State {
  explicit State(int width) : arena(width, 1) {}

  // One place is kept for a thread that calls parallel_for, so that it joins at once even when tasks
  // occupy all the others.
  oneapi::tbb::task_arena arena;
  std::shared_ptr<Gate> gate = std::make_shared<Gate>();
};

TaskPool::TaskPool(std::size_t threads) : state_(std::make_unique<State>(arena_width(threads))) {
  state_->arena.initialize();
}

TaskPool::~TaskPool() { state_->gate->wait_until_empty(); }

void TaskPool::submit(std::function<void()> task) {
  THALWEG_CHECK(task != nullptr, "a task to run");
  state_->gate->enter();
  // oneTBB runs an enqueued task even when no thread ever waits for it, and starts a thread for it when the
  // arena has none. It destroys its copy of the lambda some time after, perhaps when the pool is gone, so
  // what the task holds is not the lambda's: the thread that runs it takes it over and lets go before the
  // gate opens.
  auto* job = std::make_unique<Job>(Job{std::move(task), state_->gate}).release();
  state_->arena.enqueue([job] {
    std::unique_ptr<Job> mine(job);
    mine->task();
    const auto gate = std::move(mine->gate);
    mine.reset();
    gate->leave();
  });
}

void TaskPool::parallel_for(std::size_t count, std::size_t grain,
                            const std::function<void(std::size_t begin, std::size_t end)>& body) {
  THALWEG_CHECK(grain > 0, "a piece holds something");
  if (count == 0) return;
  const std::size_t pieces = (count - 1) / grain + 1;
  if (pieces == 1) {
    body(0, count);
    return;
  }
  state_->arena.execute([&] {
    // Isolated: while the caller waits for its last pieces it must not pick up a submitted task, which may
    // take long, or need something that the caller holds.
    oneapi::tbb::this_task_arena::isolate([&] {
      oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::size_t>(0, pieces), [&](const auto& range) {
        body(range.begin() * grain, range.end() == pieces ? count : range.end() * grain);
      });
    });
  });
}

std::size_t TaskPool::threads() const { return static_cast<std::size_t>(state_->arena.max_concurrency()); }

}  // namespace thalweg
