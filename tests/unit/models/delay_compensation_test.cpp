#include "models/delay_compensation.hpp"

#include "runtime/pool/task_pool.hpp"
#include "runtime/time/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

/// DelayCompensation: its formula, its state, and what it does not touch.
namespace thalweg::models {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Mode = DelayCompensation::Mode;
using Values = std::vector<float>;

constexpr float infinity = std::numeric_limits<float>::infinity();

Values noise(std::size_t count, std::uint64_t key) {
  Random random(5, 0, key);
  Values values(count);
  for (float& value : values) value = random.uniform(-1.0F, 1.0F);
  return values;
}

/// Calls [from, to) on sums made of the call's number; all that came out, one after the other.
Values run(DelayCompensation& compensation, std::size_t size, std::uint64_t from, std::uint64_t to,
           TaskPool* pool = nullptr) {
  Values all;
  for (std::uint64_t call = from; call < to; ++call) {
    Values out(size);
    EXPECT_TRUE(compensation.compensate(out, noise(size, 3 * call), 1.0 / 3, noise(size, 3 * call + 1),
                                        noise(size, 3 * call + 2), pool));
    all.insert(all.end(), out.begin(), out.end());
  }
  return all;
}

TEST(DelayCompensation, ConstantByHand) {
  DelayCompensation compensation({.mode = Mode::constant, .lambda = 0.5}, 4);
  const Values sum = {4, 4, 4, -4};  // of 2 samples: means 2, 2, 2, -2
  const Values w = {1.5F, 9, -9, 1.5F};
  const Values base = {1, 1, 1, 1};
  Values out(4);
  EXPECT_TRUE(compensation.compensate(out, sum, 0.5, w, base, nullptr));
  EXPECT_THAT(out, ElementsAre(3, 4, 0, -1));  // c = 1/2, clamped to 1, clamped to -1, -1/2
  EXPECT_TRUE(compensation.state().empty());

  DelayCompensation free({.mode = Mode::constant, .lambda = 0.5, .clamp = false}, 4);
  EXPECT_TRUE(free.compensate(out, sum, 0.5, w, base, nullptr));
  EXPECT_THAT(out, ElementsAre(3, 18, -18, -1));
}

TEST(DelayCompensation, AdaptiveByHand) {
  DelayCompensation compensation({.lambda = 2, .decay = 0.75, .eps = 0}, 2);
  const Values w = {0.25F, 0.25F};
  const Values base = {0, 0};
  Values out(2);
  EXPECT_TRUE(compensation.compensate(out, Values{4, -8}, 0.5, w, base, nullptr));
  EXPECT_THAT(out, ElementsAre(3, -2));  // MS = g² at first, so c = 2 · sign(g) · 0.25
  ASSERT_EQ(compensation.state().size(), 1U);
  EXPECT_EQ(compensation.state()[0].name, "mean_square");
  EXPECT_THAT(compensation.state()[0].values, ElementsAre(4, 16));

  EXPECT_TRUE(compensation.compensate(out, Values{0, -8}, 0.5, w, base, nullptr));
  EXPECT_THAT(compensation.state()[0].values, ElementsAre(3, 16));
  EXPECT_THAT(out, ElementsAre(0, -2));
  EXPECT_EQ(compensation.steps(), 2U);
}

TEST(DelayCompensation, LambdaIsTheModesUnlessGiven) {
  const Values w = {0.25F}, base = {0};
  Values out(1);
  DelayCompensation constant({.mode = Mode::constant}, 1);
  constant.compensate(out, Values{2}, 1, w, base, nullptr);
  EXPECT_FLOAT_EQ(out[0], 2 * (1 + 0.04F * 2 * 0.25F));
  DelayCompensation adaptive({.mode = Mode::adaptive}, 1);
  adaptive.compensate(out, Values{2}, 1, w, base, nullptr);
  EXPECT_FLOAT_EQ(out[0], 2 * (1 + 2 * 0.25F));
  DelayCompensation none({.mode = Mode::constant, .lambda = 0}, 1);
  none.compensate(out, Values{2}, 1, w, base, nullptr);
  EXPECT_EQ(out[0], 2);
}

TEST(DelayCompensation, ClampedItAddsNoMoreThanTheGradient) {
  constexpr std::size_t size = 3000;
  DelayCompensation compensation({.lambda = 50}, size);
  std::size_t clamped = 0;
  for (std::uint64_t call = 0; call < 5; ++call) {
    const auto sum = noise(size, 3 * call);
    Values out(size);
    EXPECT_TRUE(
        compensation.compensate(out, sum, 1, noise(size, 3 * call + 1), noise(size, 3 * call + 2), nullptr));
    for (std::size_t i = 0; i < size; ++i) {
      EXPECT_LE(std::abs(out[i] - sum[i]), std::abs(sum[i]));
      if (out[i] == 0 || out[i] == 2 * sum[i]) ++clamped;
    }
  }
  EXPECT_GT(clamped, size);
}

TEST(DelayCompensation, WithoutDelayTheMeanStaysAndItsSquareGoesOn) {
  constexpr std::size_t size = 100;
  const auto w = noise(size, 1), other = noise(size, 2);
  DelayCompensation here({}, size), there({}, size);
  Values out(size), unused(size);
  for (std::uint64_t call = 0; call < 4; ++call) {
    const auto sum = noise(size, 10 + call);
    EXPECT_TRUE(here.compensate(out, sum, 0.25, w, w, nullptr));
    EXPECT_TRUE(there.compensate(unused, sum, 0.25, w, other, nullptr));
    for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(out[i], 0.25F * sum[i]);
    EXPECT_TRUE(std::ranges::equal(here.state()[0].values, there.state()[0].values));
  }
}

TEST(DelayCompensation, InPlaceGivesTheSameBits) {
  constexpr std::size_t size = 5003;
  for (const Mode mode : {Mode::constant, Mode::adaptive}) {
    const auto sum = noise(size, 1), w = noise(size, 2), base = noise(size, 3);
    Values apart(size), over_sum = sum, over_w = w, over_base = base;
    DelayCompensation first({.mode = mode}, size), second({.mode = mode}, size), third({.mode = mode}, size),
        fourth({.mode = mode}, size);
    EXPECT_TRUE(first.compensate(apart, sum, 0.125, w, base, nullptr));
    EXPECT_TRUE(second.compensate(over_sum, over_sum, 0.125, w, base, nullptr));
    EXPECT_TRUE(third.compensate(over_w, sum, 0.125, over_w, base, nullptr));
    EXPECT_TRUE(fourth.compensate(over_base, sum, 0.125, w, over_base, nullptr));
    EXPECT_EQ(over_sum, apart);
    EXPECT_EQ(over_w, apart);
    EXPECT_EQ(over_base, apart);
  }
}

TEST(DelayCompensation, ThePoolAndItsThreadsChangeNoBit) {
  constexpr std::size_t size = 300'007;  // large enough to be split
  for (const Mode mode : {Mode::constant, Mode::adaptive}) {
    DelayCompensation alone({.mode = mode}, size);
    const auto expected = run(alone, size, 0, 3);
    for (const std::size_t threads : {1U, 2U, 3U}) {
      TaskPool pool(threads);
      DelayCompensation split({.mode = mode}, size);
      EXPECT_EQ(run(split, size, 0, 3, &pool), expected) << threads << " threads";
      if (mode == Mode::adaptive) {
        EXPECT_TRUE(std::ranges::equal(split.state()[0].values, alone.state()[0].values));
      }
    }
  }
}

TEST(DelayCompensation, TwoHalvesAreTheWhole) {
  constexpr std::size_t size = 5000, cut = 2051;
  DelayCompensation whole({}, size), left({}, cut), right({}, size - cut);
  for (std::uint64_t call = 0; call < 3; ++call) {
    const auto sum = noise(size, 3 * call), w = noise(size, 3 * call + 1), base = noise(size, 3 * call + 2);
    Values once(size), twice(size);
    EXPECT_TRUE(whole.compensate(once, sum, 0.1, w, base, nullptr));
    const auto head = [](auto& values) { return std::span(values).first(cut); };
    const auto tail = [](auto& values) { return std::span(values).subspan(cut); };
    EXPECT_TRUE(left.compensate(head(twice), head(sum), 0.1, head(w), head(base), nullptr));
    EXPECT_TRUE(right.compensate(tail(twice), tail(sum), 0.1, tail(w), tail(base), nullptr));
    EXPECT_EQ(twice, once);
  }
}

TEST(DelayCompensation, ASumThatIsNotFiniteTouchesNothing) {
  constexpr std::size_t size = 300'000;
  TaskPool tasks(2);
  const auto w = noise(size, 100), base = noise(size, 101);
  for (const Mode mode : {Mode::constant, Mode::adaptive}) {
    DelayCompensation disturbed({.mode = mode}, size), calm({.mode = mode}, size);
    for (TaskPool* const pool : {static_cast<TaskPool*>(nullptr), &tasks}) {
      for (const float bad : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
        auto sum = noise(size, 102);
        sum[size / 2 + 5] = bad;
        Values out(size, 7);
        EXPECT_FALSE(disturbed.compensate(out, sum, 1, w, base, pool));
        EXPECT_EQ(out, Values(size, 7));
      }
    }
    EXPECT_EQ(disturbed.steps(), 0U);
    EXPECT_TRUE(disturbed.state().empty());
    EXPECT_EQ(run(disturbed, size, 0, 2), run(calm, size, 0, 2));
  }
}

TEST(DelayCompensation, SaysThatItsResultOrItsSquareIsNotFinite) {
  const Values base = {0, 0};
  Values out(2);
  DelayCompensation constant({.mode = Mode::constant}, 2);
  EXPECT_FALSE(constant.compensate(out, Values{1, 1}, 1, Values{1, infinity}, Values{1, infinity}, nullptr));
  EXPECT_FALSE(constant.compensate(out, Values{1, 1e30F}, 1e10, base, base, nullptr));
  DelayCompensation adaptive({}, 2);
  EXPECT_FALSE(adaptive.compensate(out, Values{1, 1e30F}, 1, base, base, nullptr)) << "its square is not";
}

TEST(DelayCompensation, RestoredGoesOnAsIfItHadNeverStopped) {
  constexpr std::size_t size = 50;
  DelayCompensation whole({}, size), first({}, size), second({}, size);
  run(whole, size, 0, 3);
  const auto expected = run(whole, size, 3, 6);
  run(first, size, 0, 3);
  ASSERT_TRUE(second.restore(first.state(), first.steps()));
  EXPECT_EQ(second.steps(), 3U);
  EXPECT_EQ(run(second, size, 3, 6), expected);

  DelayCompensation constant({.mode = Mode::constant}, size);
  EXPECT_TRUE(constant.restore({}, 3));
  EXPECT_EQ(constant.steps(), 3U);
}

TEST(DelayCompensation, RefusesForeignState) {
  Values right(16), wrong(32);
  const std::vector<NamedState> good{{"mean_square", right}}, longer{{"mean_square", wrong}},
      foreign{{"momentum", right}};
  const auto text = [](const Status& status) {
    EXPECT_EQ(status.error().code, ErrorCode::mismatch);
    return status.error().text;
  };
  DelayCompensation adaptive({}, 16), constant({.mode = Mode::constant}, 16);
  EXPECT_THAT(text(adaptive.restore({}, 5)),
              HasSubstr("\"mean_square\" is missing: adaptive delay compensation after 5 steps needs it"));
  EXPECT_THAT(text(adaptive.restore(longer, 5)), HasSubstr("has 32 values: the model has 16"));
  EXPECT_THAT(text(adaptive.restore(foreign, 5)), HasSubstr("\"momentum\" is surplus"));
  EXPECT_THAT(text(constant.restore(good, 5)), HasSubstr("\"mean_square\" is surplus: constant delay"));
  EXPECT_EQ(adaptive.steps(), 0U);
  EXPECT_TRUE(adaptive.restore(good, 5));
}

}  // namespace
}  // namespace thalweg::models
