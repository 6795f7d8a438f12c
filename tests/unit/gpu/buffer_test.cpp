#include "gpu/buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace thalweg::gpu {
namespace {

TEST(BufferPool, HandsOutAlignedZeroedBuffersOfItsSize) {
  const auto pool = BufferPool::make_host(1000, 2);
  const auto first = pool->take(), second = pool->take();
  for (const auto& buffer : {first, second}) {
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->values().data()) % 128, 0U);
    EXPECT_EQ(buffer->size(), 1000U);
    EXPECT_EQ(buffer->bytes(), 4000U);
    EXPECT_EQ(buffer->values().size(), 1000U);
    EXPECT_EQ(buffer->host().data(), buffer->values().data());
    EXPECT_EQ(std::ranges::count(buffer->values(), 0.0F), 1000);
  }
  EXPECT_EQ(pool->size(), 1000U);
}

TEST(BufferPool, CountsAndStopsAtItsLimit) {
  const auto pool = BufferPool::make_host(16, 2);
  auto first = pool->take();
  const auto second = pool->take();
  EXPECT_EQ(pool->take(), nullptr);
  auto counters = pool->counters();
  EXPECT_EQ(counters.allocated, 2U);
  EXPECT_EQ(counters.in_use, 2U);
  EXPECT_EQ(counters.taken, 2U);
  EXPECT_EQ(counters.exhausted, 1U);

  first->values()[3] = 7;
  const float* memory = first->host().data();
  first.reset();
  EXPECT_EQ(pool->counters().in_use, 1U);
  const auto again = pool->take();
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->host().data(), memory);
  EXPECT_EQ(again->values()[3], 7) << "whatever its last user left in it";
  counters = pool->counters();
  EXPECT_EQ(counters.allocated, 2U);
  EXPECT_EQ(counters.taken, 3U);
}

TEST(BufferPool, TakesABufferBackFromItsLastHolderAsAPayload) {
  const auto pool = BufferPool::make_host(16, 1);
  Payload payload = pool->take();
  Payload other = payload;
  payload.reset();
  EXPECT_EQ(pool->counters().in_use, 1U);
  std::thread([moved = std::move(other)]() mutable { moved.reset(); }).join();
  EXPECT_EQ(pool->counters().in_use, 0U);
}

TEST(BufferPool, IsSafeFromManyThreads) {
  const auto pool = BufferPool::make_host(64, 3);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&pool, i] {
      for (int round = 0; round < 500; ++round) {
        const auto buffer = pool->take();
        if (!buffer) continue;
        std::ranges::fill(buffer->values(), static_cast<float>(i));
        EXPECT_EQ(std::ranges::count(buffer->values(), static_cast<float>(i)), 64) << "held by two at once";
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const auto counters = pool->counters();
  EXPECT_EQ(counters.in_use, 0U);
  EXPECT_LE(counters.allocated, 3U);
  EXPECT_EQ(counters.taken + counters.exhausted, 2000U);
}

TEST(BufferPool, MayGoBeforeItsBuffers) {
  auto pool = BufferPool::make_host(16, 2);
  const auto kept = pool->take();
  pool->take().reset();
  pool.reset();
  kept->values()[0] = 1;
  EXPECT_EQ(kept->host()[0], 1);
}

TEST(BufferPool, MayHaveNothingInItsBuffers) {
  const auto pool = BufferPool::make_host(0, 1);
  const auto buffer = pool->take();
  ASSERT_NE(buffer, nullptr);
  EXPECT_TRUE(buffer->values().empty());
}

}  // namespace
}  // namespace thalweg::gpu
