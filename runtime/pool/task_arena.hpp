#pragma once

#include <cstddef>
#include <functional>
#include <memory>

/// Threads of oneTBB, below TaskPool, which knows what a task is; any thread may call. The only file that
/// includes oneTBB is task_arena.cpp.
namespace thalweg {

class TaskArena {
 public:
  /// `threads` = 0: as many as the machine has cores, which is also the most there can be.
  explicit TaskArena(std::size_t threads);
  ~TaskArena();  ///< does not wait for what was submitted
  TaskArena(const TaskArena&) = delete;
  TaskArena& operator=(const TaskArena&) = delete;

  /// Calls `run(argument)` on a thread of the arena, some time soon, even when no thread ever waits for it.
  /// What the caller did before happens before. `run` must not throw.
  void submit(void (*run)(void* argument), void* argument);

  /// Calls `body(begin, end)` on disjoint ranges that make up [0, count), and returns when all are done. What
  /// the caller did before happens before them, and they before the return. `body` must not throw.
  void for_ranges(std::size_t count, const std::function<void(std::size_t begin, std::size_t end)>& body);

  [[nodiscard]] std::size_t threads() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace thalweg
