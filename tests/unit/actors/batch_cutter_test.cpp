#include "actors/batch_cutter.hpp"

#include "tests/support/integer_model.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace thalweg::actors {
namespace {

TEST(BatchCutter, CutsTheEpochsPermutationWithoutGapsOrRepeats) {
  BatchCutter cutter(testing::make_index_data(100).train, 5);
  std::set<std::uint64_t> seen;
  for (std::uint64_t begin = 0; begin < 100; begin += 20) {
    const auto data = cutter.cut({0, begin, 20});
    ASSERT_EQ(data->samples.size(), 20U);
    seen.insert(data->samples.begin(), data->samples.end());
  }
  EXPECT_EQ(seen.size(), 100U);
}

TEST(BatchCutter, ShufflesEachEpochAnotherWayAndEachSeedToo) {
  const auto data = testing::make_index_data(100).train;
  BatchCutter cutter(data, 5);
  BatchCutter other(data, 6);
  const auto first = cutter.cut({0, 0, 100})->samples;
  EXPECT_NE(first, cutter.cut({1, 0, 100})->samples);
  EXPECT_NE(first, other.cut({0, 0, 100})->samples);
  EXPECT_EQ(first, cutter.cut({0, 0, 100})->samples);
}

TEST(BatchCutter, GivesNothingForAnEmptyRange) {
  BatchCutter cutter(testing::make_index_data(10).train, 5);
  EXPECT_EQ(cutter.cut({0, 10, 0}), nullptr);
}

TEST(BatchCutter, UsesTheMemoryOfFinishedBatchesAgain) {
  BatchCutter cutter(testing::make_index_data(10).train, 5);
  const BatchData* first = cutter.cut({0, 0, 5}).get();
  EXPECT_EQ(cutter.cut({0, 5, 5}).get(), first);
}

TEST(BatchCutter, LetsBatchesOutliveIt) {
  std::shared_ptr<const BatchData> kept;
  {
    BatchCutter cutter(testing::make_index_data(10).train, 5);
    kept = cutter.cut({0, 0, 5});
  }
  EXPECT_EQ(kept->labels.size(), 5U);
}

TEST(BatchCutter, ServesSeveralThreads) {
  BatchCutter cutter(testing::make_index_data(1000).train, 5);
  const auto expected = cutter.cut({3, 0, 1000})->samples;
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    threads.emplace_back([&, i] {
      for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
        if (cutter.cut({epoch, 0, 1000})->samples.size() != 1000) ++wrong[i];
      }
      if (cutter.cut({3, 0, 1000})->samples != expected) ++wrong[i];
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

}  // namespace
}  // namespace thalweg::actors
