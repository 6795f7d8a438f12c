#include "models/network.hpp"

#include "gpu/buffer.hpp"
#include "gpu/device.hpp"
#include "models/dataset.hpp"
#include "models/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

/// Networks made to run, on the reference loops and on the best kernels of this build.
namespace thalweg::models {
namespace {

using testing::Each;
using testing::ElementsAre;

using Ops = gpu::HostOptions::Ops;

double relative_difference(std::span<const float> a, std::span<const float> b) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
    norm += double{b[i]} * b[i];
  }
  return std::sqrt(difference / norm);
}

std::shared_ptr<gpu::Buffer> vector_of(std::size_t size, float value = 0) {
  auto buffer = gpu::BufferPool::make_host(size, 1)->take();
  std::ranges::fill(buffer->values(), value);
  return buffer;
}

/// A network on a device of its own, with initial weights.
class Runner {
 public:
  Runner(const NetworkSpec& spec, Ops ops)
      : device_(gpu::open_host_device({.ops = ops, .inline_streams = true})),
        stream_(device_->open_stream("test")) {
    auto model = make_network(spec, *device_, *stream_);
    EXPECT_TRUE(model.ok()) << model.error().text;
    model_ = std::move(*model);
    w_ = vector_of(flat_size(model_->slots()));
    model_->initialize(w(), 11);
    for (const Slot& slot : model_->slots()) {  // biases away from 0, where many a mistake does not show
      if (slot.shape.size() == 1) w()[slot.offset] += 0.125F;
    }
  }

  Model& model() { return *model_; }
  std::span<float> w() { return w_->values(); }

  Score step(const Input& input, std::span<float> gradient, const SlotReady& ready = {}) {
    Result<Score> score = Error{};
    stream_->submit(
        [&](gpu::Stream&) {
          score = model_->step(input, w(), gradient, ready);
          return Status{};
        },
        [](const Status& status) { EXPECT_TRUE(status.ok()) << status.error().text; });
    EXPECT_TRUE(score.ok()) << score.error().text;
    return *score;
  }

  Score evaluate(const Input& input) {
    Result<Score> score = Error{};
    stream_->submit(
        [&](gpu::Stream&) {
          score = model_->evaluate(input, w());
          return Status{};
        },
        [](const Status& status) { EXPECT_TRUE(status.ok()) << status.error().text; });
    EXPECT_TRUE(score.ok()) << score.error().text;
    return *score;
  }

 private:
  std::unique_ptr<gpu::Device> device_;
  std::unique_ptr<gpu::Stream> stream_;
  std::unique_ptr<Model> model_;
  std::shared_ptr<gpu::Buffer> w_;
};

NetworkSpec spec_of(const std::string& name) {
  Config config;
  config.model.name = name;
  config.model.hidden = {24, 16};
  return *find_network(config, std::vector<std::size_t>{1, 28, 28}, 10);
}

/// Every kind of layer and of window, small enough for all finite differences.
NetworkSpec small_spec() {
  using Kind = gpu::Pool2dSpec::Kind;
  return {"small",
          {2, 9, 8},
          3,
          {ConvLayer{"conv1", {.out_channels = 3, .kernel = 3, .stride = 2, .padding = 1, .relu = false}},
           ReluLayer{}, PoolLayer{{.kind = Kind::average, .kernel = 2, .stride = 1}},
           ConvLayer{"conv2", {.out_channels = 4, .kernel = 2, .relu = true}}, PoolLayer{{.kind = Kind::max}},
           LinearLayer{"fc1", {3, false}}}};
}

BatchData samples(const std::vector<std::size_t>& shape, std::size_t classes, std::uint32_t count) {
  const auto dataset = make_synthetic({.samples = count, .classes = classes, .shape = shape, .noise = 1.0});
  std::vector<std::uint32_t> indices(count);
  std::iota(indices.begin(), indices.end(), 0U);
  BatchData batch;
  dataset->read(indices, batch);
  return batch;
}
BatchData images(std::uint32_t count) { return samples({1, 28, 28}, 10, count); }

Input part(const BatchData& batch, std::size_t begin, std::size_t count) {
  const std::size_t size = batch.features.size() / batch.labels.size();
  return {std::span(batch.features).subspan(begin * size, count * size),
          std::span(batch.labels).subspan(begin, count), std::span(batch.samples).subspan(begin, count)};
}

TEST(Network, InitialWeightsDependOnTheSeedAlone) {
  Runner runner(spec_of("lenet5"), Ops::best);
  const auto slots = runner.model().slots();
  const auto one = vector_of(flat_size(slots), 7);
  const auto other = vector_of(flat_size(slots), -7);
  runner.model().initialize(one->values(), 3);
  runner.model().initialize(other->values(), 3);
  EXPECT_TRUE(std::ranges::equal(one->values(), other->values())) << "padding included";
  runner.model().initialize(other->values(), 4);
  EXPECT_FALSE(std::ranges::equal(one->values(), other->values()));

  // fc1: U(-1/20, 1/20), whose deviation is 0.05 / sqrt(3).
  const auto fc1 = one->values().subspan(slots[4].offset, slots[4].count);
  EXPECT_LT(*std::ranges::max_element(fc1), 0.05F);
  EXPECT_GE(*std::ranges::min_element(fc1), -0.05F);
  const double squares = std::inner_product(fc1.begin(), fc1.end(), fc1.begin(), 0.0);
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(fc1.size())), 0.05 / std::sqrt(3.0), 5e-4);
  for (const float value : one->values().subspan(slots[5].offset, slots[5].count))
    EXPECT_LE(std::abs(value), 0.05F);
}

/// Central differences along the gradient of one slot: the change of the loss per unit of length must be the
/// gradient's norm.
void expect_gradients_are_differences(const NetworkSpec& spec, const BatchData& batch, double tolerance) {
  Runner runner(spec, Ops::reference);
  const auto slots = runner.model().slots();
  const auto gradient = vector_of(flat_size(slots));
  runner.step(batch.input(), gradient->values());
  const std::vector<float> w0(runner.w().begin(), runner.w().end());
  for (const Slot& slot : slots) {
    const auto g = gradient->values().subspan(slot.offset, slot.count);
    const double norm = std::sqrt(std::inner_product(g.begin(), g.end(), g.begin(), 0.0));
    ASSERT_GT(norm, 0) << slot.name;
    // Far enough for floats to tell, not so far that many a relu changes its mind.
    const double length = std::min(2e-3, 5e-3 / norm);
    std::array<double, 2> losses{};
    for (const std::size_t side : {0U, 1U}) {
      for (std::size_t i = 0; i < slot.count; ++i) {
        const double move = (side == 0 ? -length : length) * g[i] / norm;
        runner.w()[slot.offset + i] = static_cast<float>(w0[slot.offset + i] + move);
      }
      losses[side] = runner.evaluate(batch.input()).loss_sum;
    }
    std::ranges::copy(w0, runner.w().begin());
    EXPECT_NEAR((losses[1] - losses[0]) / (2 * length) / norm, 1.0, tolerance) << slot.name;
  }
}

TEST(Network, GradientsAreFiniteDifferences) {
  expect_gradients_are_differences(small_spec(), samples({2, 9, 8}, 3, 5), 0.01);
  expect_gradients_are_differences(spec_of("mlp"), images(3), 0.01);
  expect_gradients_are_differences(spec_of("lenet5"), images(2), 0.02);
}

class OnEach : public testing::TestWithParam<Ops> {};
INSTANTIATE_TEST_SUITE_P(Ops, OnEach, testing::Values(Ops::reference, Ops::best), [](const auto& ops) {
  return std::string(ops.param == Ops::best ? "Best" : "Reference");
});

TEST_P(OnEach, GradientOfABatchIsTheSumOfItsParts) {
  for (const char* name : {"lenet5", "mlp"}) {
    Runner runner(spec_of(name), GetParam());
    const std::size_t size = flat_size(runner.model().slots());
    const BatchData batch = images(12);
    const auto whole = vector_of(size);
    const Score score = runner.step(batch.input(), whole->values());
    const auto sum = vector_of(size);
    Score score_sum;
    for (const auto& [begin, count] : {std::pair{0U, 7U}, {7U, 1U}, {8U, 4U}}) {
      const auto piece = vector_of(size);
      score_sum += runner.step(part(batch, begin, count), piece->values());
      for (std::size_t i = 0; i < size; ++i) sum->values()[i] += piece->values()[i];
    }
    EXPECT_LE(relative_difference(whole->values(), sum->values()), 1e-6) << name;
    EXPECT_EQ(score.samples, 12U);
    EXPECT_EQ(score.correct, score_sum.correct);
    EXPECT_NEAR(score.loss_sum, score_sum.loss_sum, 1e-6 * score.loss_sum);
  }
}

TEST_P(OnEach, SlotsBecomeReadyLastFirstAndFinal) {
  Runner runner(spec_of("lenet5"), GetParam());
  const auto slots = runner.model().slots();
  const BatchData batch = images(4);
  const auto gradient = vector_of(flat_size(slots), 7);
  const auto seen = vector_of(flat_size(slots));
  std::vector<std::size_t> order;
  runner.step(batch.input(), gradient->values(), [&](std::size_t slot) {
    order.push_back(slot);
    const auto values = gradient->values().subspan(slots[slot].offset, slots[slot].count);
    std::ranges::copy(values, seen->values().begin() + static_cast<std::ptrdiff_t>(slots[slot].offset));
  });
  EXPECT_THAT(order, ElementsAre(9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
  EXPECT_TRUE(std::ranges::equal(gradient->values(), seen->values())) << "nothing changes after it is ready";
}

TEST_P(OnEach, PaddingIsZeroAndTheRestIsOverwritten) {
  Runner runner(spec_of("lenet5"), GetParam());
  const auto slots = runner.model().slots();
  const BatchData batch = images(3);
  const auto one = vector_of(flat_size(slots), std::numeric_limits<float>::quiet_NaN());
  const auto other = vector_of(flat_size(slots), 5);
  runner.step(batch.input(), one->values());
  runner.step(batch.input(), other->values());
  EXPECT_TRUE(std::ranges::equal(one->values(), other->values())) << "what was there before leaves no trace";
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const std::size_t end = slots[i].offset + slots[i].count;
    const std::size_t next = i + 1 < slots.size() ? slots[i + 1].offset : one->values().size();
    EXPECT_THAT(one->values().subspan(end, next - end), Each(0.0F)) << slots[i].name;
  }
}

TEST_P(OnEach, EvaluationScoresAsTrainingDoes) {
  Runner runner(spec_of("lenet5"), GetParam());
  const BatchData batch = images(GetParam() == Ops::best ? 600 : 20);
  const auto gradient = vector_of(flat_size(runner.model().slots()));
  const Score trained = runner.step(batch.input(), gradient->values());
  const Score evaluated = runner.evaluate(batch.input());
  EXPECT_EQ(evaluated.samples, batch.labels.size());
  EXPECT_EQ(evaluated.correct, trained.correct);
  EXPECT_NEAR(evaluated.loss_sum, trained.loss_sum, 1e-5 * trained.loss_sum);
}

TEST(Network, AnyNumberOfBatchSizesGivesTheSameBits) {
  Runner runner(spec_of("mlp"), Ops::best);
  const BatchData batch = images(20);
  const auto first = vector_of(flat_size(runner.model().slots()));
  runner.step(part(batch, 0, 1), first->values());
  const auto other = vector_of(first->size());
  for (std::size_t count = 2; count <= 20; ++count) runner.step(part(batch, 0, count), other->values());
  runner.step(part(batch, 0, 1), other->values());
  EXPECT_TRUE(std::ranges::equal(first->values(), other->values()));
}

TEST(Network, BestAndReferenceAgree) {
  for (const auto& [spec, batch] : {std::pair{spec_of("lenet5"), images(5)},
                                    {spec_of("mlp"), images(5)},
                                    {small_spec(), samples({2, 9, 8}, 3, 5)}}) {
    Runner best(spec, Ops::best);
    Runner reference(spec, Ops::reference);
    const auto one = vector_of(flat_size(best.model().slots()));
    const auto other = vector_of(flat_size(best.model().slots()));
    const Score best_score = best.step(batch.input(), one->values());
    const Score reference_score = reference.step(batch.input(), other->values());
    EXPECT_NEAR(best_score.loss_sum, reference_score.loss_sum, 1e-5 * reference_score.loss_sum) << spec.name;
    EXPECT_EQ(best_score.correct, reference_score.correct) << spec.name;
    EXPECT_LE(relative_difference(one->values(), other->values()), 1e-5) << spec.name;
  }
}

TEST(Network, AMisfitIsAnErrorBeforeAnyDeviceIsAsked) {
  const auto device = gpu::open_host_device({.inline_streams = true});
  const auto stream = device->open_stream("test");
  const auto model = make_network({"n", {8}, 7, {LinearLayer{"fc1", {10, false}}}}, *device, *stream);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().code, ErrorCode::invalid);
}

}  // namespace
}  // namespace thalweg::models
