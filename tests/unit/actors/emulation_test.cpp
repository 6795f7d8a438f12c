#include "actors/emulation.hpp"

#include "runtime/time/manual_clock.hpp"
#include "tests/support/integer_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace thalweg::actors {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Config emulated(std::chrono::milliseconds step, std::vector<std::pair<std::string, double>> slow = {}) {
  Config config;
  config.topology.workers = 2;
  config.topology.groups = 0;
  config.emulate.step = step;
  config.emulate.slow = std::move(slow);
  auto resolved = resolve_config(config);
  EXPECT_TRUE(resolved.ok()) << (resolved.ok() ? "" : resolved.error().text);
  return resolved.ok() ? *resolved : config;
}

/// An IntegerModel whose steps take a time of a manual clock.
class TimedModel final : public testing::IntegerModel {
 public:
  TimedModel(ManualClock& clock, std::chrono::nanoseconds takes)
      : IntegerModel(8, 1, 2), clock_(clock), takes_(takes) {}
  Result<Score> step(const Input& input, std::span<const float> parameters, std::span<float> gradient,
                     const SlotReady& ready) override {
    clock_.advance(takes_);
    if (fails) return Error{ErrorCode::failed, "out of order"};
    return IntegerModel::step(input, parameters, gradient, ready);
  }
  bool fails = false;

 private:
  ManualClock& clock_;
  std::chrono::nanoseconds takes_;
};

/// Steps of one emulated model, and how long it slept in them.
struct Emulated {
  Emulated(StepLength length, std::chrono::nanoseconds takes, bool fails = false) {
    auto timed = std::make_unique<TimedModel>(clock, takes);
    timed->fails = fails;
    model = std::make_unique<EmulatedModel>(std::move(timed), length, clock,
                                            [this](std::chrono::nanoseconds time) {
                                              slept.push_back(time);
                                              clock.advance(time);
                                            });
  }

  Result<Score> step(std::size_t samples) {
    features.assign(samples, 1.0F);
    labels.assign(samples, 0);
    indices.assign(samples, 3);
    alignas(64) std::array<float, 32> parameters{};
    return model->step({features, labels, indices}, parameters, gradient, [](std::size_t) {});
  }

  ManualClock clock;
  std::vector<std::chrono::nanoseconds> slept;
  std::unique_ptr<EmulatedModel> model;
  std::vector<float> features;
  std::vector<std::int32_t> labels;
  std::vector<std::uint64_t> indices;
  alignas(64) std::array<float, 32> gradient{};
};

TEST(EmulatedModel, WaitsOutWhatComputingLeavesOfAStep) {
  Emulated worker({0.001, 1}, 3ms);
  const auto score = worker.step(8);
  ASSERT_TRUE(score.ok());
  EXPECT_EQ(score->samples, 8U);
  EXPECT_EQ(worker.gradient[0], 8.0F * static_cast<float>(testing::IntegerModel::gradient_of(3, 0)));
  ASSERT_TRUE(worker.step(4).ok());
  EXPECT_THAT(worker.slept, ElementsAre(5ms, 1ms)) << "in proportion to the batch";
  EXPECT_EQ(worker.clock.now(), 12ms);
}

TEST(EmulatedModel, MultipliesTheLengthByWhatMakesTheWorkerSlow) {
  Emulated worker({0.001, 4}, 3ms);
  ASSERT_TRUE(worker.step(8).ok());
  EXPECT_EQ(worker.clock.now(), 32ms);
}

TEST(EmulatedModel, WithoutALengthIsSlowerByItsOwnTime) {
  Emulated worker({0, 4}, 3ms);
  ASSERT_TRUE(worker.step(8).ok());
  EXPECT_EQ(worker.clock.now(), 12ms);
}

TEST(EmulatedModel, NeitherHurriesNorWaitsWhenComputingTakesLonger) {
  Emulated worker({0.001, 1}, 9ms);
  ASSERT_TRUE(worker.step(8).ok());
  EXPECT_THAT(worker.slept, IsEmpty());
}

TEST(EmulatedModel, FailsAtOnce) {
  Emulated worker({0.001, 1}, 3ms, true);
  EXPECT_FALSE(worker.step(8).ok());
  EXPECT_THAT(worker.slept, IsEmpty());
}

TEST(StepLength, IsBounded) { EXPECT_GT(StepLength({1e300, 1e300}).of(1, 0ns), 1h); }

TEST(Emulation, KnowsTheSpeedOfEveryWorker) {
  Config config = emulated(10ms, {{"w1", 4}});
  config.train.batch = {16, 32};
  EXPECT_DOUBLE_EQ(step_length(config, 0).sample_s, 0.010 / 16);
  EXPECT_DOUBLE_EQ(step_length(config, 1).sample_s, 0.010 / 32);
  EXPECT_DOUBLE_EQ(step_length(config, 0).slow, 1);
  EXPECT_DOUBLE_EQ(step_length(config, 1).slow, 4);
  EXPECT_DOUBLE_EQ(speed_alone(config), 1600 + 800);
  EXPECT_EQ(speed_alone(emulated(0ms, {{"w1", 4}})), 0) << "nobody knows how fast the machine is";
}

TEST(Emulation, RefusesAStepThatTheCoresCannotKeep) {
  const Config config = emulated(10ms);
  EXPECT_TRUE(check_real_compute(config, 3ms, 2).ok()) << "0.6 of 0.8 cores";
  EXPECT_TRUE(check_real_compute(emulated(10ms, {{"w0", 2}, {"w1", 2}}), 8ms, 2).ok());
  const auto refused = check_real_compute(config, 5ms, 2);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_EQ(
      refused.error().text,
      "emulate.step: 2 workers really compute on 1.00 cores, and only 0.80 (40 % of 2) leave steps their "
      "length: give \"13ms\" or more, or fewer workers");
  EXPECT_TRUE(check_real_compute(emulated(13ms), 5ms, 2).ok()) << "what it says is right";
}

TEST(Emulation, SaysWhatIsEmulated) {
  Config config = emulated(10ms, {{"w0", 1.5}, {"w1", 4}});
  EXPECT_EQ(emulation_text(config), "a step takes 10ms, w0 1.5 times as long, w1 4 times as long");
  config.emulate = {};
  EXPECT_EQ(emulation_text(config), "");
  config.emulate.delay_ms = 2.5;
  config.emulate.rate_mbit = 100;
  EXPECT_EQ(emulation_text(config), "links into the root take 2.5 ms and carry 100 Mbit/s");
}

}  // namespace
}  // namespace thalweg::actors
