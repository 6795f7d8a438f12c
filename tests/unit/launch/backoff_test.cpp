#include "tools/launch/backoff.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace thalweg::launch {
namespace {

TEST(Backoff, DoublesUpToHalfAMinute) {
  std::vector<long> waits;
  for (const std::size_t restart : {1, 2, 3, 4, 5, 6, 7, 1000}) {
    waits.push_back(static_cast<long>(backoff(restart).count()));
  }
  EXPECT_EQ(waits, (std::vector<long>{1, 2, 4, 8, 16, 30, 30, 30}));
}

}  // namespace
}  // namespace thalweg::launch
