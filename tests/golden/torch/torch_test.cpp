#include "gpu/buffer.hpp"
#include "gpu/device.hpp"
#include "gpu/flat.hpp"
#include "models/clip.hpp"
#include "models/network.hpp"
#include "models/optimizer.hpp"
#include "models/registry.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <vector>

/// Our optimizer and our LeNet-5 against PyTorch's, as make_goldens.py wrote its results down.
namespace thalweg::models {
namespace {

nlohmann::json golden(const std::string& name) {
  const char* source = std::getenv("THALWEG_SOURCE");
  std::ifstream in(std::string(source ? source : ".") + "/tests/golden/torch/" + name);
  EXPECT_TRUE(in.is_open()) << name << " is looked for in THALWEG_SOURCE";
  return nlohmann::json::parse(in);
}

/// The formula of make_goldens.py.
std::vector<float> made(std::size_t count, std::size_t salt, double scale, double offset = -0.5) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>((i * 7919 + salt * 1237) % 9973) / 9973.0;
    values[i] = static_cast<float>((share + offset) * scale);
  }
  return values;
}

double relative_difference(std::span<const float> a, const std::vector<double>& b) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return std::sqrt(difference / norm);
}

Config::Train training(bool nesterov) {
  Config::Train train;
  train.momentum = 0.9;
  train.weight_decay = 5e-4;
  train.nesterov = nesterov;
  return train;
}

/// sum(a (w - c)^2) / 2, its gradient handed over as the sum of four equal samples.
void expect_torch_steps(const nlohmann::json& expected, const Config::Train& train) {
  const auto a = made(12, 2, 1.0, 0.5);
  const auto c = made(12, 3, 3.0);
  auto w = made(12, 1, 2.0);
  w.resize(16);
  std::vector<float> next(16);
  std::vector<float> gradient_sum(16);
  const auto optimizer = make_optimizer(train, {{"w", {12}, 0, 12, true}});
  ASSERT_TRUE(optimizer.ok());
  for (std::size_t step = 0; step < expected["losses"].size(); ++step) {
    double loss = 0;
    for (std::size_t i = 0; i < 12; ++i) {
      loss += a[i] * (w[i] - c[i]) * (w[i] - c[i]) / 2;
      gradient_sum[i] = 4 * (a[i] * (w[i] - c[i]));
    }
    const double torch_loss = expected["losses"][step];
    EXPECT_NEAR(loss, torch_loss, 1e-5 * torch_loss) << "step " << step;
    (*optimizer)->step(next, w, gradient_sum, 0.25, 0.1, nullptr);
    w = next;
    EXPECT_LE(relative_difference(w, expected["parameters"][step]), 1e-6) << "step " << step;
  }
}

TEST(Torch, SgdWithMomentum) { expect_torch_steps(golden("sgd.json")["plain"], training(false)); }
TEST(Torch, SgdWithNesterovMomentum) { expect_torch_steps(golden("sgd.json")["nesterov"], training(true)); }

TEST(Torch, AdamW) {
  Config::Train train;
  train.optimizer = "adamw";
  expect_torch_steps(golden("adamw.json")["plain"], train);
  train.betas = {0.9, 0.95};
  train.weight_decay = 0.1;
  expect_torch_steps(golden("adamw.json")["decayed"], train);
}

/// diloco() of make_goldens.py: two workers' clipped AdamW steps in place, and the outer step on their moves.
TEST(Torch, DiLoCo) {
  const auto expected = golden("diloco.json");
  const std::vector<Slot> slots{{"w", {12}, 0, 12, true}};
  const auto a = made(12, 2, 1.0, 0.5);
  auto w = made(12, 1, 2.0);
  w.resize(16);
  const auto outer = make_outer_optimizer("nesterov", 0.9, slots);
  ASSERT_TRUE(outer.ok());
  std::vector<std::unique_ptr<Optimizer>> inner;
  for (std::size_t worker = 0; worker < 2; ++worker) {
    auto one = make_inner_optimizer("adamw", {}, slots);
    ASSERT_TRUE(one.ok());
    inner.push_back(std::move(*one));
  }
  std::size_t step = 0;
  for (const auto& parameters : expected["parameters"]) {
    std::vector<float> moves(16), move(16), gradient_sum(16);
    for (std::size_t worker = 0; worker < 2; ++worker) {
      const auto c = made(12, 30 + worker, 3.0);
      auto x = w;
      for (std::size_t local = 0; local < 3; ++local, ++step) {
        for (std::size_t i = 0; i < 12; ++i) gradient_sum[i] = 4 * (a[i] * (x[i] - c[i]));
        const double norm = expected["norms"][step];
        EXPECT_NEAR(std::sqrt(gpu::squared_norm(gradient_sum)) / 4, norm, 1e-5 * norm) << "step " << step;
        inner[worker]->step(x, x, gradient_sum, clip_scale(gradient_sum, 4, 1, nullptr) / 4, 0.05, nullptr);
      }
      gpu::move(move, w, x, 12);
      gpu::axpy(moves, 1, move);
    }
    (*outer)->step(w, w, moves, 1.0 / 24, 0.7, nullptr);
    EXPECT_LE(relative_difference(w, parameters), 2e-6) << "step " << step;
  }
}

class TorchLenet5 : public testing::TestWithParam<gpu::HostOptions::Ops> {
 protected:
  void SetUp() override {
    const Config config;
    auto made_model =
        make_network(*find_network(config, std::vector<std::size_t>{1, 28, 28}, 10), *device, *stream);
    ASSERT_TRUE(made_model.ok());
    model = std::move(*made_model);
    pool = gpu::BufferPool::make_host(flat_size(model->slots()), 3);
    w = pool->take();
    next = pool->take();
    gradient = pool->take();
    std::size_t fan_in = 0;
    for (std::size_t number = 0; number < model->slots().size(); ++number) {
      const Slot& slot = model->slots()[number];
      if (slot.shape.size() > 1) fan_in = slot.count / slot.shape[0];
      const auto values = made(slot.count, number, 2 / std::sqrt(static_cast<double>(fan_in)));
      std::ranges::copy(values, w->values().subspan(slot.offset).begin());
    }
  }

  Score step() {
    Result<Score> score = Error{};
    stream->submit(
        [&](gpu::Stream&) {
          score = model->step({features, labels, {}}, w->values(), gradient->values(), {});
          return Status{};
        },
        [](const Status& status) { EXPECT_TRUE(status.ok()) << status.error().text; });
    EXPECT_TRUE(score.ok()) << score.error().text;
    return *score;
  }

  std::unique_ptr<gpu::Device> device = gpu::open_host_device({.ops = GetParam(), .inline_streams = true});
  std::unique_ptr<gpu::Stream> stream = device->open_stream("test");
  std::unique_ptr<Model> model;
  std::shared_ptr<gpu::BufferPool> pool;
  std::shared_ptr<gpu::Buffer> w;
  std::shared_ptr<gpu::Buffer> next;
  std::shared_ptr<gpu::Buffer> gradient;
  std::vector<float> features = made(4 * 784, 20, 1.0, 0.0);
  std::vector<std::int32_t> labels{3, 1, 4, 1};
};

INSTANTIATE_TEST_SUITE_P(Ops, TorchLenet5,
                         testing::Values(gpu::HostOptions::Ops::reference, gpu::HostOptions::Ops::best),
                         [](const auto& ops) {
                           return std::string(ops.param == gpu::HostOptions::Ops::best ? "Best"
                                                                                       : "Reference");
                         });

TEST_P(TorchLenet5, LossAndGradients) {
  const auto expected = golden("lenet5.json");
  const double torch_loss = expected["loss_sum"];
  EXPECT_NEAR(step().loss_sum, torch_loss, 1e-5 * torch_loss);
  const auto slots = model->slots();
  ASSERT_EQ(expected["gradients"].size(), slots.size());
  for (std::size_t number = 0; number < slots.size(); ++number) {
    const Slot& slot = slots[number];
    const auto& torch = expected["gradients"][number];
    EXPECT_EQ(slot.name, torch["name"].get<std::string>());
    EXPECT_EQ(slot.shape, torch["shape"].get<std::vector<std::size_t>>());
    const auto g = gradient->values().subspan(slot.offset, slot.count);
    double sum = 0;
    double squares = 0;
    for (const double value : g) {
      sum += value;
      squares += value * value;
    }
    const double norm = torch["norm"];
    EXPECT_NEAR(std::sqrt(squares), norm, 1e-4 * norm) << slot.name;
    EXPECT_NEAR(sum, torch["sum"].get<double>(), 1e-4 * norm) << slot.name;
    std::vector<float> some;
    for (std::size_t i = 0; i < g.size(); i += torch["stride"].get<std::size_t>()) some.push_back(g[i]);
    ASSERT_EQ(some.size(), torch["values"].size());
    EXPECT_LE(relative_difference(some, torch["values"]), 1e-4) << slot.name;
  }
}

TEST_P(TorchLenet5, FiveStepsOfTraining) {
  const auto expected = golden("lenet5.json")["losses"];
  const auto slots = model->slots();
  const auto optimizer = make_optimizer(training(true), {slots.begin(), slots.end()});
  ASSERT_TRUE(optimizer.ok());
  for (const double torch_loss : expected) {
    const Score score = step();
    EXPECT_NEAR(score.loss_sum / 4, torch_loss, 1e-5 * torch_loss);
    (*optimizer)
        ->step(next->values(), w->values(), gradient->values(), 1.0 / static_cast<double>(score.samples),
               0.02, nullptr);
    std::swap(w, next);
  }
}

}  // namespace
}  // namespace thalweg::models
