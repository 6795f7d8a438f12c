#pragma once

#include <cstddef>
#include <functional>
#include <memory>

/// Threads for work that is neither an actor's nor a device's: cutting batches, and folds and optimizer steps
/// too large for a handler. One oneTBB arena as wide as the cores, with a worker reserved so that submitted
/// tasks start while the caller goes on.
namespace thalweg {

class TaskPool {
 public:
  /// `threads` = 0: as many as the machine has cores, which is also the most there can be.
  explicit TaskPool(std::size_t threads = 0);
  ~TaskPool();  ///< waits for what was submitted; not to be called in a task
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  /// Runs `task` on a thread of the pool, some time soon. Any thread; returns at once. `task` must not throw.
  void submit(std::function<void()> task);

  /// Calls `body(begin, end)` on disjoint pieces of [0, count), each a multiple of `grain` but the last, and
  /// returns when all are done. May be called inside a task. `body` must not throw.
  void parallel_for(std::size_t count, std::size_t grain,
                    const std::function<void(std::size_t begin, std::size_t end)>& body);

  /// Threads that may work at once, one of them a caller of parallel_for.
  [[nodiscard]] std::size_t threads() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace thalweg
