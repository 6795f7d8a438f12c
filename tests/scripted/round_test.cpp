#include "tests/support/integer_model.hpp"
#include "tests/support/scripted_cluster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

/// What the actors say to each other in a round, message by message.
namespace thalweg::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

ScriptedOptions counting(TreeSpec tree, std::size_t rounds, std::vector<std::size_t> batch = {4}) {
  ScriptedOptions options;
  options.config.topology.workers = tree.worker_count();
  options.config.topology.tree = std::move(tree);
  options.config.train.batch = std::move(batch);
  options.config.train.steps = rounds;
  options.config.eval.every = 0;
  options.data = make_index_data(64);
  options.model = [] { return Result<std::unique_ptr<Model>>(std::make_unique<IntegerModel>()); };
  return options;
}

TEST(Round, OfOneWorkerBelowTheRoot) {
  auto result = run_scripted(counting({1, {}}, 1));
  ASSERT_TRUE(result) << result.error().text;
  EXPECT_THAT(result->messages, ElementsAre("scheduler < hello",    // everybody stands
                                            "feeder < lease",       //
                                            "root < roster",        // publishes version 0
                                            "w0 < parameters",      //
                                            "feeder < want_batch",  // asked for when the worker started
                                            "w0 < batch",           // version 0 is here: computes
                                            "w0 < step_done",       //
                                            "feeder < want_batch",  // which nothing answers: no round follows
                                            "root < contribution",  // all members are in: commits version 1
                                            "w0 < parameters",      //
                                            "scheduler < round_closed",  // everything is committed
                                            "reporter < committed",      //
                                            "root < data_spent",         // so version 1 is the last
                                            "evaluator < evaluate",      //
                                            "evaluator < step_done",     //
                                            "root < evaluation",         // nothing is left to do
                                            "reporter < evaluation",     //
                                            "supervisor < finished",     //
                                            "scheduler < stop",          //
                                            "evaluator < stop",          //
                                            "feeder < stop",             //
                                            "root < stop",               //
                                            "w0 < stop",                 //
                                            "supervisor < stopped",      //
                                            "supervisor < stopped",      //
                                            "supervisor < stopped",      //
                                            "supervisor < stopped",      //
                                            "supervisor < stopped",      //
                                            "reporter < closing"));      //
}

TEST(Round, SaysWhyItWaitsAndCloses) {
  auto result = run_scripted(counting({0, {{2, {}}, {1, {}}}}, 1));
  ASSERT_TRUE(result) << result.error().text;
  EXPECT_THAT(result->decisions, Contains("g0: round 0 waits for members: 1 of 2 have contributed"));
  EXPECT_THAT(result->decisions, Contains("g0: closes round 0: all 2 members are in"));
  EXPECT_THAT(result->decisions, Contains("root: closes round 0: all 2 members are in"));
  EXPECT_THAT(result->decisions, Contains("root: commits round 0 as the mean over 12 samples"));
  EXPECT_THAT(result->decisions, Contains("w2: contributes to round 0 after 1 steps: its share is done"));
}

TEST(Round, CountsEverySampleAndEveryByteOnce) {
  auto options = counting({0, {{2, {}}, {1, {}}}}, 0, {3, 5, 2});
  options.config.train.epochs = 2;
  auto result = run_scripted(options);
  ASSERT_TRUE(result) << result.error().text;
  const auto& summary = result->outcome.summary;
  EXPECT_EQ(summary.end, "done");
  EXPECT_EQ(summary.commits, 14U);
  EXPECT_EQ(summary.samples, 128U);
  EXPECT_EQ(summary.committed, 128U);
  EXPECT_EQ(summary.repeated, 0U);
  const auto bytes = result->outcome.snapshot->parameters->bytes();
  ASSERT_EQ(summary.bytes_up.size(), 2U);
  EXPECT_EQ(summary.bytes_up[0], 14 * 2 * bytes);
  EXPECT_EQ(summary.bytes_up[1], 14 * 3 * bytes);
  EXPECT_EQ(summary.bytes_down[0], 15 * 2 * bytes);
  EXPECT_EQ(summary.bytes_down[1], 15 * 3 * bytes);
  EXPECT_EQ(summary.messages, result->messages.size());
}

TEST(Round, ShorterThanItsWorkersGoesOnWithEmptyContributions) {
  auto options = counting({0, {{2, {}}, {2, {}}}}, 0, {16});
  options.data = make_index_data(65);
  options.config.train.epochs = 2;
  auto result = run_scripted(options);
  ASSERT_TRUE(result) << result.error().text;
  EXPECT_EQ(result->outcome.summary.committed, 130U);
  EXPECT_EQ(result->outcome.summary.commits, 4U);
}

/// However many members wait, and in whatever order they come, a leader has one sum and one spare: what waits
/// is its owner's own buffer.
TEST(Round, NeedsOneSumAndOneSpareForAnyNumberOfMembers) {
  for (const std::size_t members : {2U, 8U, 32U}) {
    for (const std::uint64_t shuffle : {0U, 1U, 2U}) {
      auto options = counting({0, {{members, {}}, {members, {}}}}, 20, {1});
      options.shuffle = shuffle;
      auto result = run_scripted(options);
      ASSERT_TRUE(result) << result.error().text;
      ASSERT_EQ(result->outcome.summary.commits, 20U);
      ASSERT_EQ(result->pools.size(), 1 + 2 + 2 * members);
      for (const auto& [owner, counters] : result->pools) {
        EXPECT_LE(counters.allocated, 2U) << owner << " with " << members << " members";
        EXPECT_EQ(counters.in_use, 0U) << owner;
        EXPECT_EQ(counters.taken, 20U) << owner << ": one buffer a round";
      }
    }
  }
}

TEST(Round, EvaluatesAsOftenAsAskedAndAtTheEnd) {
  auto options = counting({2, {}}, 0, {8});
  options.config.train.epochs = 3;
  options.config.eval.every = 2;
  auto result = run_scripted(options);
  ASSERT_TRUE(result) << result.error().text;
  std::vector<std::uint64_t> versions;
  for (const auto& event : result->events) {
    if (const auto* evaluated = std::get_if<Evaluated>(&event)) versions.push_back(evaluated->version);
  }
  EXPECT_THAT(versions, ElementsAre(8, 12));
}

TEST(Round, RefusesABatchLargerThanTheDataSet) {
  const auto refused = run_scripted(counting({1, {}}, 1, {65}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
}

}  // namespace
}  // namespace thalweg::testing
