#include "actors/tallies.hpp"

#include "actors/fold.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

/// What a leader holds until it is pulled.
namespace thalweg::actors {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;

class TalliesTest : public ::testing::Test {
 protected:
  /// One iteration of `samples` samples, whose gradients all are `value`, taken at `version`.
  Contribution iteration(std::uint64_t version, float value, std::uint64_t samples = 4) {
    auto payload = payloads_->take();
    std::fill(payload->values().begin(), payload->values().end(), value);
    Contribution contribution;
    contribution.origin = worker_id(1);
    contribution.base_version = {version};
    contribution.samples = contribution.batch = samples;
    contribution.steps = contribution.iterations = 1;
    contribution.spent = {{0, next_, samples}};
    next_ += samples;
    contribution.payload = std::move(payload);
    return contribution;
  }
  void add(std::uint64_t version, float value, std::uint64_t samples = 4) {
    const auto contribution = iteration(version, value, samples);
    for (;;) {
      const auto todo = tallies_.add(contribution, *sums_);
      ASSERT_TRUE(todo);
      const Payload source[] = {todo->source};
      fold(*todo->sum, source, {}, todo->accumulate, nullptr);
      if (!todo->merged) return;
    }
  }
  static float first_of(const Payload& payload) { return payload->host()[0]; }

  std::shared_ptr<gpu::BufferPool> payloads_ = gpu::BufferPool::make_host(16, 100);
  std::shared_ptr<gpu::BufferPool> sums_ = gpu::BufferPool::make_host(16, 9);
  std::uint64_t next_ = 0;
  Tallies tallies_;
};

TEST_F(TalliesTest, AddUpWhatWasTakenAtOneVersion) {
  add(3, 1);
  add(4, 10);
  add(3, 2, 8);
  EXPECT_EQ(tallies_.oldest(), Version{3});
  const auto out = tallies_.swap();
  EXPECT_TRUE(tallies_.empty());
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0].base, Version{3});
  EXPECT_EQ(first_of(out[0].sum), 3);
  EXPECT_EQ(out[0].total.samples, 12U);
  EXPECT_EQ(out[0].total.iterations, 2U);
  EXPECT_EQ(first_of(out[1].sum), 10);
}

TEST_F(TalliesTest, AreFourAtMostAndTheTwoOldestBecomeOneUnderTheOlderLabel) {
  add(7, 1);
  add(5, 10);  // in any order
  add(8, 100);
  add(6, 1000);
  EXPECT_EQ(tallies_.merges(), 0U);
  add(9, 10000);
  EXPECT_EQ(tallies_.merges(), 1U);
  const auto out = tallies_.swap();
  ASSERT_EQ(out.size(), Tallies::most);
  std::map<std::uint64_t, float> sums;
  for (const auto& tally : out) sums[tally.base.value] = first_of(tally.sum);
  EXPECT_EQ(sums, (std::map<std::uint64_t, float>{{5, 1010}, {7, 1}, {8, 100}, {9, 10000}}));
  // Nothing is lost of whose and how old it is.
  std::uint64_t samples = 0;
  for (const auto& tally : out) {
    samples += tally.total.samples;
    if (tally.base != Version{5}) continue;
    ASSERT_EQ(tally.total.ages.size(), 2U);
    EXPECT_EQ(tally.total.ages[0].base, Version{5});
    EXPECT_EQ(tally.total.ages[1].base, Version{6});
  }
  EXPECT_EQ(samples, 20U);
}

TEST_F(TalliesTest, WeighByAgeAndCountSamplesInFull) {
  add(10, 1);
  add(9, 10);
  add(6, 100, 8);
  const auto out = tallies_.swap();
  const auto weighed = weigh(out, rules::StalenessScaling::inverse, {10});
  EXPECT_THAT(weighed.weights, ElementsAre(FloatEq(1), FloatEq(1), FloatEq(0.25)));
  EXPECT_EQ(weighed.total.samples, 16U);
  EXPECT_EQ(weighed.total.iterations, 3U);
  EXPECT_EQ(weighed.total.base_version, Version{6});
  EXPECT_THAT(weigh(out, rules::StalenessScaling::none, {10}).weights, ElementsAre(1, 1, 1));
}

TEST_F(TalliesTest, CarryWhatWasRefused) {
  Contribution refused;
  refused.origin = worker_id(2);
  refused.base_version = {4};
  refused.iterations = 1;
  refused.refused.push_back({Refusal::Why::not_finite, worker_id(2), {{0, 0, 4}}, false});
  tallies_.note(refused);
  EXPECT_FALSE(tallies_.empty());
  const auto out = tallies_.swap();
  EXPECT_TRUE(tallies_.empty());
  const auto weighed = weigh(out, rules::StalenessScaling::inverse, {10});
  EXPECT_EQ(weighed.total.samples, 0U);
  EXPECT_EQ(weighed.total.refused.size(), 1U);
  EXPECT_TRUE(weighed.sources.empty());
}

TEST_F(TalliesTest, WaitForABufferAndCountNothingTwice) {
  const auto one = gpu::BufferPool::make_host(16, 1);
  ASSERT_TRUE(tallies_.add(iteration(1, 1), *one));
  EXPECT_FALSE(tallies_.add(iteration(2, 1), *one));
  ASSERT_TRUE(tallies_.add(iteration(1, 1), *one)) << "a version that is there needs none";
  const auto out = tallies_.swap();
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].total.iterations, 2U);
}

TEST(AddUp, AddsEveryFieldButIdsAndPayload) {
  Contribution a;
  a.base_version = {7};
  a.samples = 4;
  a.batch = 4;
  a.steps = 2;
  a.iterations = 2;
  a.spent = {{0, 0, 4}};
  a.score = {1.5, 3, 4};
  a.compute_ns = 10;
  a.norm = 2;
  a.work = {{0, 4, 2, 10}};
  Contribution b = a;
  b.base_version = {5};
  b.samples = b.batch = 6;
  b.steps = b.iterations = 3;
  b.spent = {{0, 4, 6}};
  b.work = {{1, 6, 3, 10}};
  Contribution total;
  add_up(total, a);
  EXPECT_EQ(total.base_version, Version{7}) << "the first one's, not 0";
  add_up(total, b);
  EXPECT_EQ(total.base_version, Version{5});
  EXPECT_EQ(total.samples, 10U);
  EXPECT_EQ(total.batch, 10U);
  EXPECT_EQ(total.steps, 3U);
  EXPECT_EQ(total.iterations, 5U);
  EXPECT_EQ(total.spent, (std::vector<IndexRange>{{0, 0, 10}}));
  EXPECT_EQ(total.score.loss_sum, 3);
  EXPECT_EQ(total.compute_ns, 20U);
  EXPECT_EQ(total.norm, 4);
  EXPECT_EQ(total.work.size(), 2U);
  ASSERT_EQ(total.ages.size(), 2U);
  EXPECT_EQ(total.ages[0].iterations, 2U);
  EXPECT_EQ(total.ages[1].iterations, 3U);
  Contribution whole;
  add_up(whole, total);
  add_up(whole, a);
  ASSERT_EQ(whole.ages.size(), 2U) << "a sum of sums keeps the ages apart, once each";
  EXPECT_EQ(whole.ages[0].iterations, 4U);
}

}  // namespace
}  // namespace thalweg::actors
