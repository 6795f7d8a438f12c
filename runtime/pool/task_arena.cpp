#include "runtime/pool/task_arena.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>

// Debian's oneTBB is not instrumented: ThreadSanitizer does not see how a task gets from one thread to
// another, and would report every one as a race. So in its builds this file, with oneTBB's templates in it,
// is not instrumented either (runtime/CMakeLists.txt), and tells the sanitizer what the header promises. What
// runs in tasks is checked as everything else is.
#ifdef THALWEG_TSAN
extern "C" void __tsan_acquire(void* key);
extern "C" void __tsan_release(void* key);
#endif

namespace thalweg {
namespace {

/// All that this thread has done so far ...
void release([[maybe_unused]] void* key) {
#ifdef THALWEG_TSAN
  __tsan_release(key);
#endif
}

/// ... has happened for a thread that comes by here later with the same key.
void acquire([[maybe_unused]] void* key) {
#ifdef THALWEG_TSAN
  __tsan_acquire(key);
#endif
}

/// oneTBB has as many threads as the machine has cores, and complains about arenas that ask for more.
int arena_width(std::size_t threads) {
  const int cores = std::max(1, oneapi::tbb::info::default_concurrency());
  return threads == 0 ? cores : static_cast<int>(std::min(threads, static_cast<std::size_t>(cores)));
}

}  // namespace

struct TaskArena::State {
  explicit State(int width) : arena(width, 1) {}

  // One place is kept for a thread that calls for_ranges, so that it joins at once even when tasks occupy all
  // the others.
  oneapi::tbb::task_arena arena;
};

TaskArena::TaskArena(std::size_t threads) : state_(std::make_unique<State>(arena_width(threads))) {
  state_->arena.initialize();
}

TaskArena::~TaskArena() = default;

void TaskArena::submit(void (*run)(void* argument), void* argument) {
  release(argument);
  // oneTBB runs an enqueued task even when no thread ever waits for it, and starts a thread for it when the
  // arena has none.
  state_->arena.enqueue([run, argument] {
    acquire(argument);
    run(argument);
  });
}

void TaskArena::for_ranges(std::size_t count,
                           const std::function<void(std::size_t begin, std::size_t end)>& body) {
  char begun = 0;  // their addresses are the keys
  char done = 0;
  release(&begun);
  state_->arena.execute([&] {
    // Isolated: while the caller waits for its last pieces it must not pick up a submitted task, which may
    // take long, or need something that the caller holds.
    oneapi::tbb::this_task_arena::isolate([&] {
      oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::size_t>(0, count), [&](const auto& range) {
        acquire(&begun);
        body(range.begin(), range.end());
        release(&done);
      });
    });
  });
  acquire(&done);
}

std::size_t TaskArena::threads() const { return static_cast<std::size_t>(state_->arena.max_concurrency()); }

}  // namespace thalweg
