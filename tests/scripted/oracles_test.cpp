#include "actors/batch_cutter.hpp"
#include "gpu/device.hpp"
#include "models/network.hpp"
#include "models/optimizer.hpp"
#include "models/registry.hpp"
#include "tests/support/integer_model.hpp"
#include "tests/support/scripted_cluster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

/// Methods that must come to the same, on whole clusters.
namespace thalweg::testing {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using ::testing::HasSubstr;

using Flat = std::vector<float>;
using Set = std::function<void(ScriptedOptions&)>;

const TreeSpec one{1, {}};
const TreeSpec two_groups_of_two{0, {{2, {}}, {2, {}}}};
const TreeSpec four_groups_of_one{0, {{1, {}}, {1, {}}, {1, {}}, {1, {}}}};

ScriptedOptions options_for(const std::string& method, const TreeSpec& tree, const Set& set = {}) {
  ScriptedOptions options;
  auto& config = options.config;
  config.topology.tree = tree;
  config.topology.workers = tree.worker_count();
  config.sync.method = method;
  config.data.name = "synthetic";
  config.data.samples = 256;
  config.data.classes = 4;
  config.data.noise = 4;
  config.model.name = "mlp";
  config.model.hidden = {8};
  config.train.batch = {8};
  config.train.epochs = 2;
  config.train.lr = 0.05;
  config.train.momentum = 0;
  config.eval.every = 0;
  if (set) set(options);
  auto data = models::load_dataset(config);
  EXPECT_TRUE(data);
  options.data = *data;
  return options;
}

ScriptedResult run(const ScriptedOptions& options) {
  auto result = run_scripted(options);
  EXPECT_TRUE(result) << options.config.sync.method << ": " << (result ? "" : result.error().text);
  if (!result) return {};
  EXPECT_EQ(result->outcome.summary.end, "done") << options.config.sync.method;
  return std::move(*result);
}

Flat parameters_of(const ScriptedResult& result) {
  if (!result.outcome.snapshot) return {};
  const auto values = result.outcome.snapshot->parameters->host();
  return {values.begin(), values.end()};
}

Flat train(const std::string& method, const TreeSpec& tree, const Set& set = {}) {
  return parameters_of(run(options_for(method, tree, set)));
}

/// Relative L2 distance.
double distance(const Flat& got, const Flat& expected) {
  EXPECT_EQ(got.size(), expected.size());
  if (got.size() != expected.size() || got.empty()) return 1;
  double apart = 0;
  double length = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    apart += std::pow(static_cast<double>(got[i]) - expected[i], 2);
    length += std::pow(expected[i], 2);
  }
  return std::sqrt(apart / length);
}

/// Times of steps near a millisecond, no two alike, so that one gradient comes at a time.
nanoseconds apart(std::size_t worker, std::uint64_t step) {
  return microseconds(900 + 40 * worker + (step * 7919 + worker * 104729) % 97) + nanoseconds(worker + 1);
}

// -- one worker
// -------------------------------------------------------------------------------------------------

TEST(Oracle, WithOneWorkerThatWaitsEveryMethodOfGradientsIsSsgd) {
  const auto expected = train("ssgd", one);
  for (const char* method : {"asp", "dcasgd", "ssp(0)", "ssp(3)", "nsoftsync(1)", "nsoftsync(4)"}) {
    EXPECT_EQ(train(method, one), expected) << method;
  }
  const auto waits = [](auto& options) { options.config.sync.pace = "stale(0)"; };
  EXPECT_EQ(train("inhad(1)", one, waits), expected);
}

TEST(Oracle, WithOneWorkerInhadIsAspAtPaceFree) {
  const std::vector<std::pair<const char*, TreeSpec>> trees{{"below the root", one},
                                                            {"in a group", {0, {{1, {}}}}}};
  for (const auto& [name, tree] : trees) {
    const auto set = [](auto& options) {
      options.config.sync.staleness_scaling = "none";
      options.step_time = apart;
    };
    const auto free = [&](auto& options) {
      set(options);
      options.config.sync.pace = "free";
    };
    const auto asp = train("asp", tree, free);
    EXPECT_EQ(train("inhad(1)", tree, set), asp) << name;
    EXPECT_NE(train("ssgd", tree), asp) << name << ": it is one step behind";
  }
}

TEST(Oracle, EagerDilocoWithOneWorkerIsDiloco) {
  // n_m is all there is: what the worker takes for the mean is its own move, which is the mean.
  const auto set = [](auto& options) {
    options.config.train.lr = 0.002;
    options.config.train.epochs = 3;
  };
  EXPECT_LE(distance(train("diloco_eager(4)", one, set), train("diloco(4)", one, set)), 1e-6);
}

// -- workers side by side
// ---------------------------------------------------------------------------------------

TEST(Oracle, InhadWithOneWorkerPerGroupAndAnNOfAllIsAspAtPaceFree) {
  const auto set = [](auto& options) {
    options.config.sync.staleness_scaling = "none";
    options.step_time = apart;
  };
  auto inhad = run(options_for("inhad(4)", four_groups_of_one, set));
  auto asp = run(options_for("asp", four_groups_of_one, [&](auto& options) {
    set(options);
    options.config.sync.pace = "free";
  }));
  EXPECT_EQ(parameters_of(inhad), parameters_of(asp));
  EXPECT_EQ(inhad.outcome.summary.commits, 64U) << "one gradient at a time";
  EXPECT_EQ(inhad.outcome.summary.staleness_counts, asp.outcome.summary.staleness_counts);
  EXPECT_GT(inhad.outcome.summary.staleness_mean, 2) << "and they are stale";
  EXPECT_EQ(inhad.outcome.summary.bytes_up[0], asp.outcome.summary.bytes_up[0]);
}

TEST(Oracle, InhadThatWaitsForTheSlowestIsSsgd) {
  const auto expected = train("ssgd", two_groups_of_two);
  for (const bool timed : {false, true}) {
    auto result = run(options_for("inhad(1)", two_groups_of_two, [&](auto& options) {
      options.config.sync.pace = "stale(0)";
      if (timed) options.step_time = apart;
    }));
    EXPECT_EQ(parameters_of(result), expected) << timed;
    EXPECT_EQ(result.outcome.summary.staleness_max, 0);
  }
  // In another order of actors the same gradients are added up in another order.
  for (std::uint64_t shuffle = 1; shuffle <= 6; ++shuffle) {
    const auto got = train("inhad(1)", two_groups_of_two, [&](auto& options) {
      options.config.sync.pace = "stale(0)";
      options.shuffle = shuffle;
    });
    EXPECT_LE(distance(got, expected), 1e-6) << "order " << shuffle;
  }
}

TEST(Oracle, LocalSgdWithOneStepIsSsgd) {
  for (const std::vector<std::size_t>& batch : {std::vector<std::size_t>{8}, {2, 6, 16, 8}}) {
    const auto set = [&](auto& options) { options.config.train.batch = batch; };
    const auto expected = train("ssgd", two_groups_of_two, set);
    EXPECT_LE(distance(train("local_sgd(1)", two_groups_of_two, set), expected), 1e-6);
    EXPECT_GT(distance(train("local_sgd(4)", two_groups_of_two, set), expected), 1e-4) << "four are not";
    const auto all_warm_up = [&](auto& options) {
      set(options);
      options.config.sync.warmup_rounds = 1000;
    };
    EXPECT_LE(distance(train("post_local_sgd(4)", two_groups_of_two, all_warm_up), expected), 1e-6);
  }
}

TEST(Oracle, FlsgdInLockstepWithFixedStepsIsLocalSgd) {
  for (const std::vector<std::size_t>& batch : {std::vector<std::size_t>{8}, {2, 6, 16, 8}}) {
    const auto set = [&](auto& options) { options.config.train.batch = batch; };
    const auto expected = train("local_sgd(4)", two_groups_of_two, set);
    const auto got = train("flsgd", two_groups_of_two, [&](auto& options) {
      set(options);
      options.config.sync.pace = "lockstep";
      options.config.sync.local = "steps(4)";
      options.config.sync.compensation = "none";
    });
    EXPECT_LE(distance(got, expected), 1e-6);
  }
}

TEST(Oracle, WithoutADelayNothingIsCompensated) {
  // Whatever the compensation is: in lockstep gradients are taken at the parameters that they move.
  const auto expected = train("ssgd", two_groups_of_two);
  EXPECT_EQ(train("flsgd", two_groups_of_two,
                  [](auto& options) {
                    options.config.sync.pace = "lockstep";
                    options.config.sync.local = "steps(1)";
                  }),
            expected);
  EXPECT_LE(distance(train("flsgd", two_groups_of_two,
                           [](auto& options) { options.config.sync.warmup_rounds = 1000; }),
                     expected),
            1e-6)
      << "a run that is all warm-up";
}

// -- one behind
// -------------------------------------------------------------------------------------------------

/// Pipe-SGD in a loop: gradient t at w_{t-1}, the first two at w_0.
Flat pipe_sgd(const ScriptedOptions& options) {
  const auto& config = options.config;
  const auto device = gpu::open_host_device({gpu::HostOptions::Ops::best, true});
  const auto stream = device->open_stream("reference");
  const auto& train = *options.data.train;
  auto spec = models::find_network(config, train.sample_shape(), train.classes());
  auto model = models::make_network(*spec, *device, *stream).value();
  const std::vector<Slot> slots(model->slots().begin(), model->slots().end());
  auto optimizer = models::make_optimizer(config.train, slots).value();
  const auto pool = gpu::BufferPool::make_host(flat_size(slots), 8);
  const auto make = [&] {
    auto buffer = pool->take();
    std::fill(buffer->values().begin(), buffer->values().end(), 0.0F);
    return buffer;
  };
  auto before = make();
  model->initialize(before->values(), config.run.seed);
  auto w = make();
  std::copy(before->host().begin(), before->host().end(), w->values().begin());

  const auto workers = config.topology.workers;
  const auto global = workers * config.train.batch[0];
  actors::BatchCutter cutter(options.data.train, config.run.seed);
  const auto rounds_per_epoch = train.size() / global;
  for (std::uint64_t round = 0; round < config.train.epochs * rounds_per_epoch; ++round) {
    const auto gradient = make();
    std::vector<std::shared_ptr<gpu::Buffer>> groups;
    std::uint64_t at = round % rounds_per_epoch * global;
    for (std::size_t worker = 0; worker < workers; ++worker, at += config.train.batch[0]) {
      const auto batch = cutter.cut({round / rounds_per_epoch, at, config.train.batch[0]});
      const auto score = model->step(batch->input(), before->host(), gradient->values(), [](std::size_t) {});
      EXPECT_TRUE(score);
      // Two workers to a group, and the sums of groups are added up.
      if (worker % 2 == 0) groups.push_back(make());
      const auto sum = groups.back()->values();
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient->host()[i];
    }
    for (std::size_t i = 0; i < gradient->size(); ++i) {
      gradient->values()[i] = groups[0]->host()[i] + groups[1]->host()[i];
    }
    auto next = make();
    optimizer->step(next->values(), w->host(), gradient->host(), 1.0 / static_cast<double>(global),
                    config.train.lr, nullptr);
    before = std::exchange(w, next);
  }
  return {w->host().begin(), w->host().end()};
}

Set one_step_behind(std::uint64_t shuffle, StepTime step_time) {
  return [shuffle, step_time = std::move(step_time)](auto& options) {
    options.config.sync.local = "steps(1)";
    options.config.sync.compensation = "none";
    options.shuffle = shuffle;
    options.step_time = step_time;
  };
}

TEST(Oracle, FlsgdWithOneStepAndNoCompensationIsPipeSgd) {
  const auto expected = pipe_sgd(options_for("flsgd", two_groups_of_two));
  EXPECT_NE(train("ssgd", two_groups_of_two), expected);
  // Whatever comes first of a batch and of the parameters that the next round opens with.
  for (std::uint64_t shuffle = 0; shuffle < 12; ++shuffle) {
    EXPECT_EQ(train("flsgd", two_groups_of_two, one_step_behind(shuffle, {})), expected)
        << "order " << shuffle;
  }
  const auto result = run(options_for("flsgd", two_groups_of_two, one_step_behind(0, apart)));
  EXPECT_EQ(parameters_of(result), expected);
  EXPECT_EQ(result.outcome.summary.staleness_max, 1);
}

TEST(Oracle, OneStepPerRoundIsOneStepOfTheLearningRate) {
  // H̄ = Σn/Σb = 1: no rounding, not even in a last, short round.
  auto result = run(options_for("flsgd", two_groups_of_two, [](auto& options) {
    one_step_behind(0, apart)(options);
    options.config.data.samples = 250;
  }));
  const auto text = [](std::uint64_t round, std::uint64_t samples) {
    return "root: commits round " + std::to_string(round) + " as the mean over " + std::to_string(samples) +
           " samples, in steps of " + std::to_string(samples);
  };
  EXPECT_THAT(result.decisions, ::testing::Contains(text(3, 32)));
  EXPECT_THAT(result.decisions, ::testing::Contains(text(7, 26)));
}

TEST(Oracle, WithFlsgdNobodyWaits) {
  auto result = run(options_for("flsgd(16)", two_groups_of_two, [](auto& options) {
    options.config.train.epochs = 12;
    options.step_time = [](std::size_t worker, std::uint64_t) {
      constexpr int ms[] = {1, 2, 3, 7};
      return milliseconds(ms[worker]);
    };
  }));
  std::size_t rounds = 0;
  std::size_t given = 0;
  for (const auto& decision : result.decisions) {
    // When all is given out somebody has nothing left to do.
    const std::string leases = "scheduler: leases ";
    if (decision.starts_with(leases)) given += std::stoul(decision.substr(leases.size()));
    if (given == 12 * 256 / 8) break;
    if (decision.starts_with("root: commits")) ++rounds;
    if (decision[0] == 'w') {
      EXPECT_THAT(decision, ::testing::Not(HasSubstr("waits for the end of round")));
    }
  }
  EXPECT_GE(rounds, 20U);
  const auto& workers = result.outcome.summary.worker_summaries;
  ASSERT_EQ(workers.size(), 4U);
  const double slow = static_cast<double>(workers[3].steps);
  EXPECT_GE(slow, 20);
  EXPECT_NEAR(static_cast<double>(workers[0].steps) / slow, 7, 0.7) << "each does what it can";
  EXPECT_NEAR(static_cast<double>(workers[1].steps) / slow, 3.5, 0.35);
  EXPECT_EQ(result.outcome.summary.committed, 12U * 256U);
}

// -- bounds
// -----------------------------------------------------------------------------------------------------

/// A worker that has got as far ahead as it may takes a step without end; meanwhile the others, which were
/// that far behind, go as far ahead as they may.
TEST(Oracle, SspReachesItsBoundOfStalenessAndDoesNotPassIt) {
  for (std::size_t workers = 2; workers <= 4; ++workers) {
    for (std::uint64_t gap = 0; gap <= 3; ++gap) {
      auto result =
          run(options_for("ssp(" + std::to_string(gap) + ")", TreeSpec{workers, {}}, [&](auto& options) {
            options.step_time = [gap](std::size_t worker, std::uint64_t step) {
              if (worker == 0) return milliseconds(step == gap ? 1000 : 1);
              return milliseconds(step == 0 ? 100 : 1);
            };
          }));
      EXPECT_EQ(result.outcome.summary.staleness_max, static_cast<double>((workers - 1) * (2 * gap + 1)))
          << workers << " workers, gap " << gap;
    }
  }
}

/// Where the gap lets nobody go on, a round is closed over what is there.
TEST(Oracle, AGapAndACountThatDoNotFitDoNotHang) {
  const TreeSpec five{0, {{2, {}}, {3, {}}}};
  for (std::uint64_t gap = 0; gap <= 2; ++gap) {
    for (std::uint64_t n = 1; n <= 5; ++n) {
      for (const StepTime& step_time : {StepTime{}, StepTime{apart}}) {
        const auto set = [&](auto& options) {
          options.config.data.samples = 250;
          options.config.sync.pace = "stale(" + std::to_string(gap) + ")";
          options.step_time = step_time;
        };
        const auto inhad = run(options_for("inhad(" + std::to_string(n) + ")", five, set));
        EXPECT_EQ(inhad.outcome.summary.committed, 500U) << "inhad, n " << n << ", gap " << gap;
        const auto counted = run(options_for("nsoftsync(" + std::to_string(n) + ")", five, set));
        EXPECT_EQ(counted.outcome.summary.committed, 500U) << "nsoftsync, n " << n << ", gap " << gap;
      }
    }
  }
}

TEST(Oracle, LeadersThatCountLetGoOfTheLastOnes) {
  for (std::size_t count = 1; count <= 4; ++count) {
    const auto result = run(options_for("asp", TreeSpec{0, {{3, {}}, {2, {}}}}, [&](auto& options) {
      options.config.sync.level_triggers[1] = "count(" + std::to_string(count) + ")";
    }));
    EXPECT_EQ(result.outcome.summary.committed, 512U) << count;
  }
}

/// At the end of the data, when everybody else has nothing left to do, one dies over what it has.
TEST(Oracle, SspEndsWhenTheLastWorkersSamplesComeBack) {
  class DyingModel final : public IntegerModel {
   public:
    using IntegerModel::IntegerModel;
    Result<Score> step(const Input&, std::span<const float>, std::span<float>, const SlotReady&) override {
      throw std::runtime_error("the device fell off the bus");
    }
  };
  for (std::uint64_t gap = 0; gap <= 3; ++gap) {
    auto result = run(options_for("ssp(" + std::to_string(gap) + ")", TreeSpec{3, {}}, [&](auto& options) {
      auto made = std::make_shared<int>();
      options.model = [made]() -> Result<std::unique_ptr<Model>> {
        if ((*made)++ == 2) return std::unique_ptr<Model>(std::make_unique<DyingModel>(500, 784, 4));
        return std::unique_ptr<Model>(std::make_unique<IntegerModel>(500, 784, 4));
      };
      options.config.train.batch = {64};
      options.config.train.epochs = 1;
      options.step_time = [](std::size_t worker, std::uint64_t) {
        return milliseconds(worker == 2 ? 500 : 1);
      };
    }));
    EXPECT_EQ(result.outcome.summary.committed, 256U) << "gap " << gap;
  }
}

}  // namespace
}  // namespace thalweg::testing
