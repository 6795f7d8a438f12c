#include "tools/bench/turns.hpp"

#include <gtest/gtest.h>

namespace thalweg::bench {
namespace {

using namespace std::chrono_literals;

TEST(Turns, ATurnGoesFromTheLastGradientToTheLastWorker) {
  Turns turns(2, 3);
  turns.ready = {{1ms, 11ms, 21ms}, {2ms, 10ms, 20ms}};
  turns.adopted = {{5ms, 12ms, 26ms}, {4ms, 13ms, 25ms}};
  EXPECT_DOUBLE_EQ(turns.median_s(3), 0.003);  // of 3, 2 and 5 ms
}

TEST(Turns, TheFirstTenthIsLeftOut) {
  Turns turns(1, 10);
  turns.ready = {Turns::Times(10, 1ms)};
  turns.adopted = {Turns::Times(10, 2ms)};
  turns.adopted[0][0] = 1s;
  turns.adopted[0][9] = 4ms;
  EXPECT_DOUBLE_EQ(turns.median_s(10), 0.001);
}

}  // namespace
}  // namespace thalweg::bench
