#include "runtime/pool/task_pool.hpp"

#include "runtime/check.hpp"
#include "runtime/pool/task_arena.hpp"

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

/// The arena lets go of a task some time after it has run, perhaps when the pool is gone, so what the task
/// holds is not the arena's: the thread that runs it takes it over and lets go before the gate opens.
void run_job(void* job) {
  std::unique_ptr<Job> mine(static_cast<Job*>(job));
  mine->task();
  const auto gate = std::move(mine->gate);
  mine.reset();
  gate->leave();
}

}  // namespace

struct TaskPool::State {
  explicit State(std::size_t threads) : arena(threads) {}

  TaskArena arena;
  std::shared_ptr<Gate> gate = std::make_shared<Gate>();
};

TaskPool::TaskPool(std::size_t threads) : state_(std::make_unique<State>(threads)) {}

TaskPool::~TaskPool() { state_->gate->wait_until_empty(); }

void TaskPool::submit(std::function<void()> task) {
  THALWEG_CHECK(task != nullptr, "a task to run");
  state_->gate->enter();
  auto* job = std::make_unique<Job>(Job{std::move(task), state_->gate}).release();
  state_->arena.submit(run_job, job);
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
  state_->arena.for_ranges(pieces, [&](std::size_t begin, std::size_t end) {
    body(begin * grain, end == pieces ? count : end * grain);
  });
}

std::size_t TaskPool::threads() const { return state_->arena.threads(); }

}  // namespace thalweg
