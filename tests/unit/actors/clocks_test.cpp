#include "actors/rules/clocks.hpp"

#include "actors/rules/balance.hpp"
#include "runtime/time/random.hpp"

#include <gtest/gtest.h>

#include <limits>

/// What the root and the scheduler know of how fast workers are.
namespace thalweg::rules {
namespace {

constexpr auto nobody = std::numeric_limits<std::uint64_t>::max();

TEST(Clocks, TheSlowestIsTheMinimum) {
  Clocks clocks;
  for (const std::uint32_t worker : {0U, 1U, 2U}) clocks.add(worker);
  EXPECT_EQ(clocks.slowest(), 0U);
  clocks.advance(0, 5);
  clocks.advance(1, 3);
  EXPECT_EQ(clocks.slowest(), 0U);
  clocks.advance(2, 4);
  EXPECT_EQ(clocks.slowest(), 3U);
}

TEST(Clocks, RiseWhenTheSlowestGoes) {
  Clocks clocks;
  clocks.add(0);
  clocks.add(1);
  clocks.advance(0, 7);
  EXPECT_EQ(clocks.slowest(), 0U);
  clocks.remove(1);
  EXPECT_EQ(clocks.slowest(), 7U);
}

TEST(Clocks, ANewcomerStartsAtTheMinimum) {
  Clocks clocks;
  clocks.add(0);
  clocks.add(1);
  clocks.advance(0, 9);
  clocks.advance(1, 6);
  EXPECT_EQ(clocks.slowest(), 6U);
  clocks.add(2);
  EXPECT_EQ(clocks.slowest(), 6U);
  clocks.advance(1, 8);
  EXPECT_EQ(clocks.slowest(), 6U) << "it is the newcomer that is waited for";
  clocks.advance(2, 7);
  EXPECT_EQ(clocks.slowest(), 7U);
}

TEST(Clocks, WhoRestsIsNotWaitedFor) {
  Clocks clocks;
  clocks.add(0);
  clocks.add(1);
  clocks.advance(0, 4);
  clocks.rest(1, 0);
  EXPECT_EQ(clocks.slowest(), 4U);
  clocks.rest(0, 4);
  EXPECT_EQ(clocks.slowest(), nobody);
  clocks.advance(0, 5);
  EXPECT_EQ(clocks.slowest(), 5U) << "it goes on";
}

TEST(Clocks, WhatComesInLateDoesNotEndARest) {
  Clocks clocks;
  clocks.add(0);
  clocks.add(1);
  clocks.advance(0, 4);
  clocks.advance(1, 1);
  clocks.rest(1, 2);
  clocks.advance(1, 2);
  EXPECT_EQ(clocks.slowest(), 4U);
  clocks.advance(1, 3);
  EXPECT_EQ(clocks.slowest(), 4U) << "it goes on, and the minimum never falls";
  clocks.advance(0, 6);
  EXPECT_EQ(clocks.slowest(), 4U);
  clocks.advance(1, 5);
  EXPECT_EQ(clocks.slowest(), 5U);
}

TEST(Clocks, KnowHowMuchCanBeFinishedBeforeTheNextCommit) {
  Clocks clocks;
  for (const std::uint32_t worker : {0U, 1U, 2U}) clocks.add(worker);
  clocks.advance(0, 3);
  clocks.advance(1, 1);
  EXPECT_EQ(clocks.room(0), 0U + 0 + 1) << "one is ahead already";
  EXPECT_EQ(clocks.room(3), 1U + 3 + 4);
  clocks.rest(2, 0);
  EXPECT_EQ(clocks.room(0), 0U + 1 + 0) << "who rests gets no further";
  clocks.rest(2, 1);
  EXPECT_EQ(clocks.room(0), 0U + 1 + 1) << "but what it has finished may be on its way";
  clocks.rest(0, 3);
  clocks.rest(1, 1);
  clocks.rest(2, 0);
  EXPECT_EQ(clocks.room(5), 0U);
}

TEST(Clocks, TheMinimumNeverFallsWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    Clocks clocks;
    std::map<std::uint32_t, std::uint64_t> finished;
    std::uint32_t next = 0;
    std::uint64_t least = 0;
    for (int step = 0; step < 500; ++step) {
      if (finished.empty() || random.below(30) == 0) {
        clocks.add(next);
        finished[next++] = least;
      }
      auto worker = finished.begin();
      std::advance(worker, static_cast<std::ptrdiff_t>(random.below(finished.size())));
      switch (random.below(20)) {
        case 0:
          clocks.remove(worker->first);
          finished.erase(worker);
          break;
        case 1:
        case 2:
          clocks.rest(worker->first, worker->second);
          break;
        default:
          clocks.advance(worker->first, ++worker->second);
      }
      const auto slowest = clocks.slowest();
      if (slowest == nobody) continue;
      ASSERT_GE(slowest, least) << "seed " << seed;
      least = slowest;
    }
  }
}

using Batches = std::map<std::uint32_t, std::uint64_t>;

std::uint64_t sum_of(const Batches& batches) {
  std::uint64_t sum = 0;
  for (const auto& [worker, batch] : batches) sum += batch;
  return sum;
}

TEST(Balance, CutsBySpeed) {
  Balance balance(64, 2);
  balance.observe({{0, 16, 1, 1000}, {1, 16, 1, 3000}});
  EXPECT_FALSE(balance.due());
  balance.observe({{0, 16, 1, 1000}, {1, 16, 1, 3000}});
  EXPECT_TRUE(balance.due());
  // 1 + the share of 62 by speeds 3 : 1, which is 46.5 : 15.5.
  EXPECT_EQ(balance.cut({{0, 32}, {1, 32}}), (Batches{{0, 48}, {1, 16}}));
  EXPECT_FALSE(balance.due()) << "it counts anew";
}

TEST(Balance, WhoIsNotKnownHasTheMeanOfTheOthers) {
  Balance balance(33, 1);
  balance.observe({{0, 30, 1, 1000}, {1, 10, 1, 1000}});
  // Speeds 3, 1 and their mean 2: 15, 5 and 10 of the 30 that are left when everybody has one.
  EXPECT_EQ(balance.cut({{0, 11}, {1, 11}, {2, 11}}), (Batches{{0, 16}, {1, 6}, {2, 11}}));
}

TEST(Balance, LeavesBatchesWhileNobodyIsKnown) {
  Balance balance(20, 1);
  EXPECT_EQ(balance.cut({{0, 3}, {4, 17}}), (Batches{{0, 3}, {4, 17}}));
}

TEST(Balance, SmoothsWhatItMeasures) {
  Balance balance(102, 1);
  balance.observe({{0, 100, 1, 1000}, {1, 100, 1, 1000}});
  EXPECT_EQ(balance.cut({{0, 51}, {1, 51}}), (Batches{{0, 51}, {1, 51}}));
  // Worker 1 is three times as fast now: halfway there, 0.1 against 0.2.
  balance.observe({{0, 100, 1, 1000}, {1, 300, 1, 1000}});
  const auto cut = balance.cut({{0, 51}, {1, 51}});
  EXPECT_EQ(cut, (Batches{{0, 34}, {1, 68}}));
}

TEST(Balance, AddsUpToTheGlobalBatchAndLeavesNobodyWithoutWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    const std::uint64_t workers = 1 + random.below(40);
    const std::uint64_t global = workers + random.below(10) * random.below(100);
    Balance balance(global, 1);
    Batches batches;
    for (std::uint32_t worker = 0; worker < workers; ++worker) batches[worker] = 1;
    batches[0] += global - workers;
    for (int commit = 0; commit < 20; ++commit) {
      std::vector<Work> work;
      for (const auto& [worker, batch] : batches) {
        if (random.below(4) == 0) continue;
        // Speeds apart by up to nine orders of magnitude, and measurements that say nothing.
        const std::uint64_t ns = random.below(10) == 0 ? 0 : 1 + (random.bits() >> (34 + random.below(30)));
        work.push_back({worker, random.below(10) == 0 ? 0 : batch, 1, ns});
      }
      balance.observe(work);
      batches = balance.cut(batches);
      ASSERT_EQ(batches.size(), workers);
      ASSERT_EQ(sum_of(batches), global) << "seed " << seed;
      for (const auto& [worker, batch] : batches) ASSERT_GE(batch, 1U) << "seed " << seed << ", w" << worker;
    }
  }
}

TEST(Balance, GivesWhatALostWorkerHadToTheOthers) {
  Balance balance(60, 1);
  balance.observe({{0, 20, 1, 1000}, {1, 20, 1, 1000}, {2, 20, 1, 1000}});
  EXPECT_EQ(balance.cut({{0, 20}, {2, 20}}), (Batches{{0, 30}, {2, 30}}));
}

}  // namespace
}  // namespace thalweg::rules
