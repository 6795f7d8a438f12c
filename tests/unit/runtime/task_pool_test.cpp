#include "runtime/pool/task_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace thalweg {
namespace {

TEST(TaskPool, RunsEverythingBeforeItIsGone) {
  std::atomic<int> ran{0};
  {
    TaskPool pool;
    for (int i = 0; i < 1000; ++i) pool.submit([&ran] { ++ran; });
  }
  EXPECT_EQ(ran, 1000);
}

TEST(TaskPool, AnUnusedPoolGoesAtOnce) {
  const TaskPool pool;
  EXPECT_GE(pool.threads(), 1U);
}

TEST(TaskPool, IsAsWideAsAskedUpToTheCores) {
  const std::size_t cores = TaskPool().threads();
  EXPECT_EQ(TaskPool(1).threads(), 1U);
  EXPECT_EQ(TaskPool(cores).threads(), cores);
  EXPECT_EQ(TaskPool(cores + 1).threads(), cores);
}

// A submitted task may not wait for the caller to come by: an actor's handler never does.
TEST(TaskPool, StartsWhileTheCallerIsBusy) {
  for (const std::size_t threads : {1U, 2U, 0U}) {
    TaskPool pool(threads);
    std::promise<void> ran;
    pool.submit([&ran] { ran.set_value(); });
    ran.get_future().wait();
  }
}

TEST(TaskPool, LetsGoOfATaskOnceItRan) {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = held;
  {
    TaskPool pool;
    pool.submit([held = std::move(held)] {});
  }
  EXPECT_TRUE(watch.expired());
}

TEST(TaskPool, TasksMaySubmitTasks) {
  std::atomic<int> ran{0};
  {
    TaskPool pool(2);
    for (int i = 0; i < 10; ++i) {
      pool.submit([&] {
        pool.submit([&ran] { ++ran; });
        ++ran;
      });
    }
  }
  EXPECT_EQ(ran, 20);
}

/// The pieces of [0, count) in order, if each index was covered once.
std::vector<std::pair<std::size_t, std::size_t>> pieces_of(TaskPool& pool, std::size_t count,
                                                           std::size_t grain) {
  std::vector<std::atomic<int>> covered(count);
  std::vector<std::pair<std::size_t, std::size_t>> pieces;
  std::mutex mutex;
  pool.parallel_for(count, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) ++covered[i];
    const std::lock_guard lock(mutex);
    pieces.emplace_back(begin, end);
  });
  for (const auto& times : covered) EXPECT_EQ(times, 1) << count << " by " << grain;
  return pieces;
}

TEST(TaskPool, ParallelForCoversEachIndexOnceInWholeGrains) {
  TaskPool pool(4);
  for (const std::size_t count : {0U, 1U, 15U, 16U, 17U, 1000U, 4096U}) {
    for (const std::size_t grain : {1U, 16U, 100U, 5000U}) {
      for (const auto& [begin, end] : pieces_of(pool, count, grain)) {
        EXPECT_LT(begin, end);
        EXPECT_EQ(begin % grain, 0U);
        EXPECT_TRUE(end % grain == 0 || end == count) << end;
      }
    }
  }
}

TEST(TaskPool, ParallelForWorksInsideATask) {
  for (const std::size_t threads : {1U, 2U, 4U}) {
    std::atomic<std::size_t> covered{0};
    {
      TaskPool pool(threads);
      for (int task = 0; task < 8; ++task) {
        pool.submit([&] {
          pool.parallel_for(1000, 10, [&](std::size_t begin, std::size_t end) { covered += end - begin; });
        });
      }
    }
    EXPECT_EQ(covered, 8000U);
  }
}

// While a caller waits for its own pieces it may not take up a submitted task, which could want a lock that
// the caller holds.
TEST(TaskPool, AWaitingCallerTakesUpNoTask) {
  TaskPool pool(2);
  std::mutex mutex;
  std::atomic<int> ran{0};
  for (int round = 0; round < 50; ++round) {
    const std::lock_guard lock(mutex);
    for (int task = 0; task < 4; ++task) {
      pool.submit([&] {
        const std::lock_guard inner(mutex);
        ++ran;
      });
    }
    std::atomic<std::size_t> covered{0};
    pool.parallel_for(64, 1, [&](std::size_t begin, std::size_t end) { covered += end - begin; });
    EXPECT_EQ(covered, 64U);
  }
}

TEST(TaskPool, PoolsShareNothing) {
  TaskPool one(2);
  TaskPool other(2);
  std::promise<void> released;
  std::promise<void> ran;
  one.submit([&] { released.get_future().wait(); });
  other.parallel_for(100, 1, [](std::size_t, std::size_t) {});
  released.set_value();
  other.submit([&] { ran.set_value(); });
  ran.get_future().wait();
}

}  // namespace
}  // namespace thalweg
