#include "actors/global_model.hpp"

#include "actors/fold.hpp"
#include "runtime/time/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace thalweg::actors {
namespace {

using ::testing::ElementsAre;

std::shared_ptr<gpu::Buffer> filled(gpu::BufferPool& pool, float value) {
  auto buffer = pool.take();
  for (auto& each : buffer->values()) each = value;
  return buffer;
}

struct Fixture {
  std::shared_ptr<gpu::BufferPool> pool = gpu::BufferPool::make_host(16, 4);
  Config config;
  std::unique_ptr<GlobalModel> model;

  explicit Fixture(double clip_norm = 0) {
    config.train.lr = 0.5;
    config.train.momentum = 0.5;
    Snapshot start;
    start.parameters = filled(*pool, 1);
    auto optimizer = models::make_optimizer(config.train, {{"w", {16}, 0, 16, true}});
    EXPECT_TRUE(optimizer);
    auto made =
        GlobalModel::make({pool, std::move(*optimizer), models::Schedule(config, 100), clip_norm}, start);
    EXPECT_TRUE(made);
    model = std::move(*made);
  }

  void round(float gradient, std::uint64_t samples, IndexRange spent, bool last = false) {
    ASSERT_TRUE(model->reserve_next());
    ASSERT_TRUE(model->take({filled(*pool, gradient), samples, std::abs(gradient) * 4, 1, nullptr}, nullptr));
    Contribution contribution;
    contribution.samples = samples;
    contribution.spent = {spent};
    model->commit(contribution, {7}, last);
  }
};

TEST(GlobalModel, StepsAlongTheMeanAndCountsWhatWasSpent) {
  Fixture fixture;
  fixture.round(8, 4, {0, 0, 4});
  EXPECT_EQ(fixture.model->version(), Version{1});
  EXPECT_FLOAT_EQ(fixture.model->current().payload->host()[0], 1 - 0.5F * 2);
  EXPECT_FALSE(fixture.model->current().record.last);
  EXPECT_EQ(fixture.model->current().record.round, Round{7});
  fixture.round(8, 4, {0, 2, 4}, true);
  EXPECT_FLOAT_EQ(fixture.model->current().payload->host()[0], 0 - 0.5F * (0.5F * 2 + 2));
  EXPECT_TRUE(fixture.model->current().record.last);
  EXPECT_EQ(fixture.model->committed_samples(), 8U);
  EXPECT_EQ(fixture.model->repeated_samples(), 2U);
  EXPECT_THAT(fixture.model->snapshot()->ledger, ElementsAre(IndexRange{0, 0, 6}));
}

TEST(GlobalModel, GoesOnFromASnapshotAsIfItHadNeverStopped) {
  Fixture whole;
  Fixture half;
  for (int i = 0; i < 2; ++i)
    whole.round(static_cast<float>(i + 1), 4, {0, static_cast<std::uint64_t>(4 * i), 4});
  half.round(1, 4, {0, 0, 4});
  auto optimizer = models::make_optimizer(half.config.train, {{"w", {16}, 0, 16, true}});
  auto resumed = GlobalModel::make({half.pool, std::move(*optimizer), models::Schedule(half.config, 100), 0},
                                   *half.model->snapshot());
  ASSERT_TRUE(resumed);
  half.model = std::move(*resumed);
  half.round(2, 4, {0, 4, 4});
  EXPECT_EQ(half.model->version(), whole.model->version());
  EXPECT_EQ(half.model->committed_samples(), whole.model->committed_samples());
  EXPECT_EQ(half.model->current().payload->host()[0], whole.model->current().payload->host()[0]);
}

TEST(GlobalModel, KeepsItsParametersAndMomentumWhenASumIsNotFinite) {
  Fixture fixture;
  fixture.round(8, 4, {0, 0, 4});
  const auto before = fixture.model->snapshot();
  ASSERT_TRUE(fixture.model->reserve_next());
  auto sum = filled(*fixture.pool, 1);
  sum->values()[7] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(fixture.model->take({sum, 4, INFINITY, 1, nullptr}, nullptr));
  const auto after = fixture.model->snapshot();
  EXPECT_EQ(after->version, before->version);
  EXPECT_EQ(after->parameters, before->parameters);
  EXPECT_EQ(after->optimizer[0].values, before->optimizer[0].values);
}

TEST(GlobalModel, ClipsTheMeanGradientWhereItIsLonger) {
  Fixture fixture(4);
  // Sixteen elements of 8 / 4: a norm of 8, which clipping halves.
  fixture.round(8, 4, {0, 0, 4});
  EXPECT_FLOAT_EQ(fixture.model->current().payload->host()[0], 1 - 0.5F * 1);
  // Sixteen elements of 2 / 4: a norm of 2, left alone.
  fixture.round(2, 4, {0, 4, 4});
  EXPECT_NEAR(fixture.model->current().payload->host()[0], 0.5 - 0.5 * (0.5 * 1 + 0.5), 1e-6);
}

TEST(GlobalModel, QuarantinesWhatIsRefusedAgainAndKeepsThatOverASnapshot) {
  Fixture fixture;
  Contribution round;
  round.refused = {{Refusal::Why::not_finite, worker_id(1), {{0, 4, 4}}, false},
                   {Refusal::Why::too_large, worker_id(0), {{0, 0, 4}}, true}};
  const auto before = fixture.model->current();
  fixture.model->skip(round, {5}, false);
  EXPECT_EQ(fixture.model->current().version(), before.version());
  EXPECT_EQ(fixture.model->current().payload, before.payload);
  EXPECT_EQ(fixture.model->current().record.round, Round{5});
  const auto snapshot = fixture.model->snapshot();
  EXPECT_THAT(snapshot->quarantined, ElementsAre(IndexRange{0, 0, 4}));
  EXPECT_EQ(snapshot->refused, 2U);
  auto optimizer = models::make_optimizer(fixture.config.train, {{"w", {16}, 0, 16, true}});
  auto resumed = GlobalModel::make(
      {fixture.pool, std::move(*optimizer), models::Schedule(fixture.config, 100), 0}, *snapshot);
  ASSERT_TRUE(resumed);
  EXPECT_THAT((*resumed)->snapshot()->quarantined, ElementsAre(IndexRange{0, 0, 4}));
  EXPECT_EQ((*resumed)->snapshot()->refused, 2U);
}

TEST(GlobalModel, SaysWhenAStepOverflows) {
  Fixture fixture;
  constexpr float most = std::numeric_limits<float>::max();
  fixture.round(-most, 1, {0, 0, 1});
  const float before = fixture.model->current().payload->host()[0];
  ASSERT_TRUE(fixture.model->reserve_next());
  EXPECT_FALSE(fixture.model->take(
      {filled(*fixture.pool, -most), 1, 4.0 * static_cast<double>(most), 1, nullptr}, nullptr));
  EXPECT_EQ(fixture.model->current().payload->host()[0], before);
}

TEST(GlobalModel, SaysWhenEveryBufferIsHeld) {
  Fixture fixture;
  std::vector<Parameters> held;
  while (fixture.model->reserve_next()) {
    held.push_back(fixture.model->current());
    Contribution nothing;
    fixture.model->commit(nothing, {1}, false);
  }
  EXPECT_EQ(held.size(), 3U);
  held.clear();
  EXPECT_TRUE(fixture.model->reserve_next());
}

TEST(Fold, GivesTheSameBitsWhole_InParts_AndOnThePool) {
  constexpr std::size_t size = 1 << 20;
  const auto pool = gpu::BufferPool::make_host(size, 8);
  TaskPool tasks(2);
  Random random(3);
  std::vector<Payload> sources;
  for (int i = 0; i < 5; ++i) {
    auto buffer = pool->take();
    for (auto& value : buffer->values()) value = random.uniform(-1, 1);
    sources.push_back(std::move(buffer));
  }
  auto whole = pool->take();
  fold(*whole, sources, {}, false, nullptr);
  auto parts = pool->take();
  fold(*parts, std::span(sources).first(2), {}, false, nullptr);
  fold(*parts, std::span(sources).subspan(2), {}, true, nullptr);
  auto pooled = pool->take();
  fold(*pooled, sources, {}, false, &tasks);
  EXPECT_TRUE(std::ranges::equal(whole->values(), parts->values()));
  EXPECT_TRUE(std::ranges::equal(whole->values(), pooled->values()));
}

}  // namespace
}  // namespace thalweg::actors
