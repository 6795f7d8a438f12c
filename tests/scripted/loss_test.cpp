#include "tests/support/integer_model.hpp"
#include "tests/support/scripted_cluster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

/// Workers that die and numbers that are no good: what the run makes of them, message by message.
namespace thalweg::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// An IntegerModel with something done to each step of one worker.
class MeddledModel final : public IntegerModel {
 public:
  /// `input`, and what the step came to.
  using Meddle = std::function<void(const Input& input, Score& score, std::span<float> gradient)>;
  explicit MeddledModel(Meddle meddle) : meddle_(std::move(meddle)) {}

  Result<Score> step(const Input& input, std::span<const float> parameters, std::span<float> gradient_sum,
                     const SlotReady& ready) override {
    auto score = IntegerModel::step(input, parameters, gradient_sum, ready);
    if (meddle_) meddle_(input, *score, gradient_sum);
    return score;
  }

 private:
  Meddle meddle_;
};

/// Meddles with the models of some workers, by number.
ModelFactory meddled(std::map<int, MeddledModel::Meddle> by_worker) {
  auto made = std::make_shared<int>();
  return [by_worker = std::move(by_worker), made] {
    const auto found = by_worker.find((*made)++);
    auto meddle = found == by_worker.end() ? MeddledModel::Meddle{} : found->second;
    return Result<std::unique_ptr<Model>>(std::make_unique<MeddledModel>(std::move(meddle)));
  };
}

/// Throws at the step with this number, counted from 1.
MeddledModel::Meddle dies_at(int step) {
  return [step, steps = 0](const Input&, Score&, std::span<float>) mutable {
    if (++steps == step) throw std::runtime_error("the device fell off the bus");
  };
}

ScriptedOptions two_groups(ModelFactory model) {
  ScriptedOptions options;
  options.config.topology.tree = {0, {{2, {}}, {2, {}}}};
  options.config.topology.workers = 4;
  options.config.train.batch = {4};
  options.config.train.epochs = 2;
  options.config.eval.every = 0;
  options.data = make_index_data(64);
  options.model = std::move(model);
  return options;
}

std::vector<std::string> lost_workers(const ScriptedResult& result) {
  std::vector<std::string> names;
  for (const auto& event : result.events) {
    if (const auto* lost = std::get_if<WorkerLost>(&event)) names.push_back(lost->worker + ": " + lost->why);
  }
  return names;
}

TEST(Loss, OfAWorkerLetsTheRunGoOnAndComputesItsSamplesElsewhere) {
  for (const std::uint64_t shuffle : {0U, 1U, 2U, 3U, 4U, 5U}) {
    auto options = two_groups(meddled({{2, dies_at(3)}}));
    options.shuffle = shuffle;
    const auto result = run_scripted(options);
    ASSERT_TRUE(result) << result.error().text;
    const auto& summary = result->outcome.summary;
    EXPECT_EQ(summary.end, "done") << summary.failure;
    EXPECT_EQ(summary.committed, 128U);
    EXPECT_EQ(summary.repeated, 0U);
    EXPECT_THAT(lost_workers(*result), ElementsAre("w2: the device fell off the bus"));
    EXPECT_THAT(result->decisions, Contains("scheduler: goes on without w2: 3 workers are left"));
    EXPECT_EQ(result->outcome.snapshot->ledger, (std::vector<IndexRange>{{0, 0, 64}, {1, 0, 64}}));
  }
}

TEST(Loss, OfAWholeGroupLeavesTheOtherOne) {
  for (const std::uint64_t shuffle : {0U, 1U, 2U, 3U}) {
    auto options = two_groups(meddled({{0, dies_at(2)}, {1, dies_at(4)}}));
    options.shuffle = shuffle;
    const auto result = run_scripted(options);
    ASSERT_TRUE(result) << result.error().text;
    EXPECT_EQ(result->outcome.summary.end, "done") << result->outcome.summary.failure;
    EXPECT_EQ(result->outcome.summary.committed, 128U);
    EXPECT_EQ(lost_workers(*result).size(), 2U);
  }
}

TEST(Loss, OfTheLastWorkerEndsTheRunWithItsText) {
  auto options = two_groups(meddled({{0, dies_at(3)}, {1, dies_at(3)}, {2, dies_at(3)}, {3, dies_at(3)}}));
  const auto result = run_scripted(options);
  ASSERT_TRUE(result) << result.error().text;
  const auto& summary = result->outcome.summary;
  EXPECT_EQ(summary.end, "failed");
  EXPECT_THAT(summary.failure,
              HasSubstr("the device fell off the bus: 0 workers are left, and sync.min_workers is 1"));
  ASSERT_NE(result->outcome.snapshot, nullptr);
  EXPECT_EQ(result->outcome.snapshot->version, Version{2});
}

TEST(Loss, BelowMinWorkersEndsTheRun) {
  auto options = two_groups(meddled({{3, dies_at(1)}}));
  options.config.sync.min_workers = 4;
  const auto result = run_scripted(options);
  ASSERT_TRUE(result) << result.error().text;
  EXPECT_EQ(result->outcome.summary.failure,
            "w3: the device fell off the bus: 3 workers are left, and sync.min_workers is 4");
}

MeddledModel::Meddle not_a_number_at(int step) {
  return [step, steps = 0](const Input&, Score& score, std::span<float>) mutable {
    if (++steps == step) score.loss_sum = std::numeric_limits<double>::quiet_NaN();
  };
}

TEST(Refusal, OfAGradientLeavesTheRoundToTheRestAndTriesItsSamplesElsewhere) {
  const auto infinite_once = [steps = 0](const Input&, Score&, std::span<float> gradient) mutable {
    if (++steps == 2) gradient[3] = std::numeric_limits<float>::infinity();
  };
  for (const auto& meddle : {MeddledModel::Meddle(infinite_once), not_a_number_at(2)}) {
    const auto result = run_scripted(two_groups(meddled({{1, meddle}})));
    ASSERT_TRUE(result) << result.error().text;
    const auto& summary = result->outcome.summary;
    EXPECT_EQ(summary.end, "done") << summary.failure;
    EXPECT_EQ(summary.refused, 1U);
    EXPECT_EQ(summary.quarantined, 0U);
    EXPECT_EQ(summary.committed, 128U);
    EXPECT_THAT(lost_workers(*result), IsEmpty()) << "one strike is none too many";
    EXPECT_THAT(result->decisions,
                Contains("g0: refuses what w1 contributes to round 1: its numbers are not finite"));
    EXPECT_THAT(result->decisions, Contains("root: commits round 1 as the mean over 12 samples"));
    EXPECT_THAT(result->decisions,
                Contains("scheduler: round 1: 12 samples committed, 4 go out again, 0 are quarantined"));
  }
}

TEST(Refusal, OfTooLargeAGradientIsTheGuards) {
  const auto huge_once = [steps = 0](const Input&, Score&, std::span<float> gradient) mutable {
    if (++steps == 1) gradient[0] = 1e6F;
  };
  auto options = two_groups(meddled({{0, huge_once}}));
  options.config.guard.max_norm = 1000;
  const auto result = run_scripted(options);
  ASSERT_TRUE(result) << result.error().text;
  EXPECT_EQ(result->outcome.summary.refused, 1U);
  EXPECT_THAT(
      result->decisions,
      Contains("g0: refuses what w0 contributes to round 0: its gradient is larger than guard.max_norm"));
}

TEST(Refusal, TwiceQuarantinesTheSamples) {
  // Sample 17 is no good, whoever computes it.
  const auto poisoned = [](const Input& input, Score& score, std::span<float>) {
    for (const auto sample : input.samples) {
      if (sample == 17) score.loss_sum = std::numeric_limits<double>::infinity();
    }
  };
  const auto result =
      run_scripted(two_groups(meddled({{0, poisoned}, {1, poisoned}, {2, poisoned}, {3, poisoned}})));
  ASSERT_TRUE(result) << result.error().text;
  const auto& summary = result->outcome.summary;
  EXPECT_EQ(summary.end, "done") << summary.failure;
  EXPECT_EQ(summary.refused, 4U) << "twice in each epoch";
  // A whole batch in the first epoch. In the second one the same sample was in a shorter one, of a last
  // round.
  EXPECT_EQ(summary.quarantined, 5U);
  EXPECT_EQ(summary.committed, 123U);
  EXPECT_THAT(lost_workers(*result), IsEmpty()) << "nobody else could compute them either";
}

TEST(Refusal, AgainAndAgainCostsAWorkerItsPlace) {
  const auto always = [](const Input&, Score& score, std::span<float>) {
    score.loss_sum = std::numeric_limits<double>::quiet_NaN();
  };
  auto options = two_groups(meddled({{3, always}}));
  options.config.guard.strikes = 2;
  const auto result = run_scripted(options);
  ASSERT_TRUE(result) << result.error().text;
  const auto& summary = result->outcome.summary;
  EXPECT_EQ(summary.end, "done") << summary.failure;
  EXPECT_THAT(lost_workers(*result),
              ElementsAre("w3: 2 of its gradients refused, and fine when others computed them"));
  EXPECT_EQ(summary.committed, 128U);
  EXPECT_EQ(summary.quarantined, 0U);
}

TEST(Refusal, OfEverythingIsADivergedRun) {
  const auto at_two = [](int from) {
    return [from, steps = 0](const Input&, Score& score, std::span<float>) mutable {
      if (++steps >= from) score.loss_sum = std::numeric_limits<double>::quiet_NaN();
    };
  };
  const auto result =
      run_scripted(two_groups(meddled({{0, at_two(3)}, {1, at_two(3)}, {2, at_two(3)}, {3, at_two(3)}})));
  ASSERT_TRUE(result) << result.error().text;
  EXPECT_EQ(result->outcome.summary.end, "diverged");
  EXPECT_EQ(
      result->outcome.summary.failure,
      "root: in 3 rounds in a row all gradients were refused, the last one of w3 since it is not finite: a "
      "smaller learning rate may help");
  EXPECT_EQ(result->outcome.snapshot->version, Version{2});
  EXPECT_EQ(result->outcome.summary.refused, 12U) << "those of the last round, too";
}

}  // namespace
}  // namespace thalweg::testing
