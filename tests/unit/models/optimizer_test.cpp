#include "models/optimizer.hpp"

#include "gpu/buffer.hpp"
#include "gpu/flat.hpp"
#include "runtime/pool/task_pool.hpp"
#include "runtime/time/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace thalweg::models {
namespace {

using testing::HasSubstr;

std::vector<Slot> slots_of(std::vector<std::size_t> counts, std::vector<bool> decays) {
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    slots.push_back({"s" + std::to_string(i), {counts[i]}, flat_size(slots), counts[i], decays[i]});
  }
  return slots;
}

std::vector<float> noise(std::size_t count, std::uint64_t key) {
  Random random(3, 0, key);
  std::vector<float> values(count);
  for (float& value : values) value = random.uniform(-1.0F, 1.0F);
  return values;
}

std::unique_ptr<Optimizer> make(const Config::Train& train, std::vector<Slot> slots) {
  auto made = make_optimizer(train, std::move(slots));
  EXPECT_TRUE(made.ok());
  return std::move(*made);
}

/// Runs steps [from, to) on gradients made of the step's number.
std::vector<float> run(Optimizer& optimizer, std::vector<float> w, std::uint64_t from, std::uint64_t to,
                       TaskPool* pool = nullptr) {
  std::vector<float> next(w.size());
  for (std::uint64_t step = from; step < to; ++step) {
    optimizer.step(next, w, noise(w.size(), step), 1.0 / 3, 0.1, pool);
    w.swap(next);
  }
  return w;
}

TEST(Sgd, StepsByHand) {
  Config::Train train;
  train.momentum = 0.5;
  train.weight_decay = 0.25;
  const auto optimizer = make(train, slots_of({1}, {true}));
  std::vector<float> w(16, 0.0F);
  std::vector<float> sum(16, 0.0F);
  std::vector<float> next(16);
  w[0] = 4;
  sum[0] = 6;  // of 2 samples: mean 3, with decay g = 4
  optimizer->step(next, w, sum, 0.5, 0.5, nullptr);
  EXPECT_EQ(next[0], 2.0F);  // v = 4
  w = next;
  optimizer->step(next, w, sum, 0.5, 0.5, nullptr);
  EXPECT_EQ(next[0], -0.75F);  // g = 3.5, v = 5.5
  EXPECT_EQ(next[1], 0.0F) << "padding stays zero";
  EXPECT_EQ(optimizer->steps(), 2U);

  train.nesterov = true;
  const auto nesterov = make(train, slots_of({1}, {true}));
  w[0] = 4;
  nesterov->step(next, w, sum, 0.5, 0.5, nullptr);
  EXPECT_EQ(next[0], 1.0F);  // g + 0.5 v = 6
}

TEST(Sgd, DecaysOnlyWhatIsMarked) {
  Config::Train train;
  train.momentum = 0;
  train.weight_decay = 0.5;
  const auto optimizer = make(train, slots_of({3, 20, 1}, {true, false, true}));
  const std::vector<float> w(64, 8.0F);
  const std::vector<float> sum(64, 0.0F);
  std::vector<float> next(64);
  optimizer->step(next, w, sum, 1, 1.0, nullptr);
  EXPECT_EQ(next[0], 4.0F);
  EXPECT_EQ(next[16], 8.0F);
  EXPECT_EQ(next[35], 8.0F);
  EXPECT_EQ(next[48], 4.0F);
  EXPECT_TRUE(optimizer->state().empty()) << "without momentum there is none";
}

TEST(Sgd, RestoredGoesOnAsIfItHadNeverStopped) {
  for (const bool nesterov : {false, true}) {
    Config::Train train;
    train.nesterov = nesterov;
    train.weight_decay = 1e-3;
    const auto slots = slots_of({100, 7}, {true, true});
    const auto whole = make(train, slots);
    const auto w0 = noise(flat_size(slots), 99);
    const auto expected = run(*whole, w0, 0, 10);

    const auto first = make(train, slots);
    EXPECT_TRUE(first->state().empty());
    const auto w5 = run(*first, w0, 0, 5);
    const auto state = first->state();
    ASSERT_EQ(state.size(), 1U);
    EXPECT_EQ(state[0].name, "momentum");

    const auto second = make(train, slots);
    ASSERT_TRUE(second->restore(state, first->steps()).ok());
    EXPECT_EQ(second->steps(), 5U);
    EXPECT_EQ(run(*second, w5, 5, 10), expected);
  }
}

TEST(Sgd, RefusesForeignState) {
  const auto slots = slots_of({10}, {true});
  const auto optimizer = make({}, slots);
  std::vector<float> right(16);
  std::vector<float> wrong(32);
  const Optimizer::NamedState momentum{"momentum", right};
  const std::vector<Optimizer::NamedState> longer{{"momentum", wrong}};
  const std::vector<Optimizer::NamedState> foreign{momentum, {"variance", right}};
  const auto text = [](const Status& status) {
    EXPECT_EQ(status.error().code, ErrorCode::mismatch);
    return status.error().text;
  };
  EXPECT_THAT(text(optimizer->restore({}, 5)), HasSubstr("\"momentum\" is missing"));
  EXPECT_THAT(text(optimizer->restore(longer, 5)), HasSubstr("has 32 values: the model has 16"));
  EXPECT_THAT(text(optimizer->restore(foreign, 5)), HasSubstr("\"variance\" is surplus"));
  EXPECT_THAT(text(optimizer->restore(std::vector{momentum}, 0)), HasSubstr("\"momentum\" is surplus"));
  EXPECT_TRUE(optimizer->restore({}, 0).ok());
}

TEST(Sgd, ThePoolChangesNoBit) {
  TaskPool pool(3);
  Config::Train train;
  train.weight_decay = 5e-4;
  const auto slots = slots_of({150'001, 70'003, 90'000}, {true, false, true});
  const auto w = noise(flat_size(slots), 50);
  const auto alone = make(train, slots);
  const auto split = make(train, slots);
  EXPECT_EQ(run(*alone, w, 0, 3), run(*split, w, 0, 3, &pool));
}

TEST(AdamW, GoesOnFromItsSavedStateAsIfItHadNeverStopped) {
  Config::Train train;
  train.optimizer = "adamw";
  train.weight_decay = 0.1;
  const auto slots = slots_of({20, 7}, {true, false});
  const auto whole = make(train, slots), first = make(train, slots), second = make(train, slots);
  const std::vector<float> w(flat_size(slots), 0.5F);
  const auto expected = run(*whole, w, 0, 6);
  const auto half = run(*first, w, 0, 3);
  EXPECT_EQ(first->state().size(), 2U);
  const auto saved = first->state();
  ASSERT_TRUE(second->restore(saved, first->steps()));
  EXPECT_EQ(run(*second, half, 3, 6), expected);
  EXPECT_FALSE(make(train, slots)->restore(std::span(saved).first(1), 3));
}

TEST(Sgd, UnknownOptimizersAreRefused) {
  Config::Train train;
  train.optimizer = "adam";
  const auto made = make_optimizer(train, {});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::invalid);
  EXPECT_EQ(made.error().text,
            "train.optimizer = \"adam\": no such optimizer: known are \"sgd\" and \"adamw\"");
}

TEST(Optimizer, AStepInPlaceGivesTheSameBits) {
  TaskPool pool(2);
  const auto slots = slots_of({150'001, 70'003, 90'000}, {true, false, true});
  std::vector<Config::Train> trains(4);
  trains[0].momentum = 0;
  trains[1].weight_decay = 1e-2;
  trains[2].nesterov = true;
  trains[3].optimizer = "adamw";
  trains[3].weight_decay = 0.1;
  for (const auto& train : trains) {
    for (TaskPool* const split : {static_cast<TaskPool*>(nullptr), &pool}) {
      const auto apart = make(train, slots), in_place = make(train, slots);
      const auto expected = run(*apart, noise(flat_size(slots), 70), 0, 3);
      auto w = noise(flat_size(slots), 70);
      for (std::uint64_t step = 0; step < 3; ++step) {
        EXPECT_TRUE(in_place->step(w, w, noise(w.size(), step), 1.0 / 3, 0.1, split));
      }
      EXPECT_EQ(w, expected);
    }
  }
}

TEST(OuterOptimizer, OfLocalSgdTakesTheMeanMoveOff) {
  const auto outer = make_outer_optimizer("sgd", 0, slots_of({16}, {true}));
  ASSERT_TRUE(outer.ok());
  // Two workers with 6 and 2 samples moved 1 and -3 away: by samples that is nothing; and 4 and 0: 3.
  std::vector<float> sum(16, 6.0F * 1 + 2.0F * -3), w(16, 0.5F), next(16);
  sum[1] = 6.0F * 4 + 2.0F * 0;
  EXPECT_TRUE((*outer)->step(next, w, sum, 1.0 / 8, 1, nullptr));
  EXPECT_EQ(next[0], 0.5F);
  EXPECT_EQ(next[1], -2.5F);
  EXPECT_TRUE((*outer)->state().empty());
}

TEST(OuterOptimizer, NesterovByHand) {
  const auto outer = make_outer_optimizer("nesterov", 0.5, slots_of({16}, {true}));
  ASSERT_TRUE(outer.ok());
  std::vector<float> w(16, 8);
  const std::vector<float> sum(16, 4);  // Δ = 2
  EXPECT_TRUE((*outer)->step(w, w, sum, 0.5, 0.5, nullptr));
  EXPECT_EQ(w[0], 6.5F);  // u = 2, Δ + u / 2 = 3
  EXPECT_TRUE((*outer)->step(w, w, sum, 0.5, 0.5, nullptr));
  EXPECT_EQ(w[0], 4.75F);  // u = 3, Δ + u / 2 = 3.5
  ASSERT_EQ((*outer)->state().size(), 1U);
  EXPECT_EQ((*outer)->state()[0].name, "momentum");
}

TEST(OuterOptimizer, UnknownKindsAreRefused) {
  const auto made = make_outer_optimizer("adamw", 0.9, {});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::invalid);
  EXPECT_EQ(made.error().text,
            "sync.outer = \"adamw\": no such optimizer of moves: known are \"sgd\" and \"nesterov\"");
}

/// Three steps of an optimizer of local steps, made with a `train` that differs from it in everything.
std::vector<float> inner_run(std::string_view kind) {
  Config::Train train;
  train.momentum = 0.25;
  train.nesterov = true;
  train.betas = {0.5, 0.5};
  train.eps = 0.1;
  train.weight_decay = 0.5;
  const auto slots = slots_of({20, 7}, {true, false});
  auto inner = make_inner_optimizer(kind, train, slots);
  EXPECT_TRUE(inner.ok());
  return run(**inner, noise(flat_size(slots), 80), 0, 3);
}

TEST(InnerOptimizer, IsOneOfThree) {
  const auto slots = slots_of({20, 7}, {true, false});
  const auto w = noise(flat_size(slots), 80);
  Config::Train plain;
  plain.momentum = 0;
  EXPECT_EQ(inner_run("sgd"), run(*make(plain, slots), w, 0, 3));
  Config::Train diloco;
  diloco.optimizer = "adamw";
  diloco.betas = {0.9, 0.95};
  diloco.weight_decay = 0.1;
  EXPECT_EQ(inner_run("adamw"), run(*make(diloco, slots), w, 0, 3));
  Config::Train train;
  train.momentum = 0.25;
  train.nesterov = true;
  train.weight_decay = 0.5;
  EXPECT_EQ(inner_run("train"), run(*make(train, slots), w, 0, 3));

  const auto made = make_inner_optimizer("adam", train, {});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::invalid);
  EXPECT_EQ(made.error().text,
            "sync.inner = \"adam\": no such optimizer of local steps: known are \"sgd\", \"adamw\" and "
            "\"train\"");
}

TEST(Optimizer, SaysWhetherAllOfItsResultIsFinite) {
  constexpr std::size_t size = 600'000;  // large enough to be split over a pool
  TaskPool tasks(2);
  Config::Train train;
  train.momentum = 0;  // which would remember what is not finite
  const auto optimizer = make_optimizer(train, {{"w", {size}, 0, size, true}});
  ASSERT_TRUE(optimizer);
  const auto pool = gpu::BufferPool::make_host(size, 3);
  const auto w = pool->take(), sum = pool->take(), next = pool->take();
  gpu::fill(w->values(), 1);
  gpu::fill(sum->values(), 1);
  for (TaskPool* const split : {static_cast<TaskPool*>(nullptr), &tasks}) {
    EXPECT_TRUE((*optimizer)->step(next->values(), w->host(), sum->host(), 1, 0.1, split));
    for (const std::size_t at : {std::size_t{0}, size / 2 + 5, size - 1}) {
      w->values()[at] = std::numeric_limits<float>::infinity();
      EXPECT_FALSE((*optimizer)->step(next->values(), w->host(), sum->host(), 1, 0.1, split)) << at;
      w->values()[at] = 1;
    }
  }
}

}  // namespace
}  // namespace thalweg::models
