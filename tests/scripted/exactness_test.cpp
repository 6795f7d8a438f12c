#include "models/registry.hpp"
#include "tests/support/integer_model.hpp"
#include "tests/support/scripted_cluster.hpp"

#include <gtest/gtest.h>

#include <cmath>

/// The first invariant: averages are weighted by samples, exactly, whatever the tree and the split.
namespace thalweg::testing {
namespace {

using Flat = std::vector<float>;

struct Shape {
  const char* name;
  TreeSpec tree;
  std::vector<std::size_t> batch;
};

TreeSpec leaf(std::size_t workers) { return {workers, {}}; }
TreeSpec over(std::vector<TreeSpec> children) { return {0, std::move(children)}; }

ScriptedOptions options_for(const Shape& shape) {
  ScriptedOptions options;
  options.config.topology.workers = shape.tree.worker_count();
  options.config.topology.tree = shape.tree;
  options.config.train.batch = shape.batch;
  options.config.eval.every = 0;
  return options;
}

double relative_distance(const Flat& a, const Flat& b, double scale) {
  double distance = 0;
  for (std::size_t i = 0; i < a.size(); ++i) distance += std::pow(static_cast<double>(a[i]) - b[i], 2);
  return std::sqrt(distance) / scale;
}

double norm(const Flat& a) { return relative_distance(a, Flat(a.size()), 1); }

Flat parameters_of(const actors::Snapshot& snapshot) {
  const auto values = snapshot.parameters->host();
  return {values.begin(), values.end()};
}

/// Runs on from `start` up to version `until`; from version 0 when there is no start.
actors::Snapshot run_until(const Shape& shape, const models::DatasetPair& data,
                           const std::optional<actors::Snapshot>& start, std::uint64_t until) {
  auto options = options_for(shape);
  options.config.train.steps = until;
  options.data = data;
  options.start = start;
  auto result = run_scripted(options);
  EXPECT_TRUE(result) << shape.name << ": " << (result ? "" : result.error().text);
  EXPECT_EQ(result->outcome.snapshot->version.value, until) << shape.name;
  return *result->outcome.snapshot;
}

TEST(Exactness, OneStepFromTheSameStateIsTheSameOnEveryTree) {
  Config config;
  config.data.name = "fashion_mnist";
  auto loaded = models::load_dataset(config);
  ASSERT_TRUE(loaded) << loaded.error().text;
  // The test set is evaluated at the end of every piece of the run: the made one is small.
  config.data.name = "synthetic";
  config.data.samples = 40;
  auto small = models::load_dataset(config);
  ASSERT_TRUE(small);
  const models::DatasetPair data{loaded->train, small->test};

  const Shape reference{"1 worker x 64", leaf(1), {64}};
  const std::vector<Shape> others{
      {"4 x 16 in 2 groups", over({leaf(2), leaf(2)}), {16}},
      {"16 + 48", over({leaf(2)}), {16, 48}},
      {"4 x 16 in groups of 1 and 3", over({leaf(1), leaf(3)}), {16}},
      {"3 levels", over({over({leaf(1), leaf(2)}), over({leaf(1)})}), {16}},
  };
  std::optional<actors::Snapshot> state;
  std::uint64_t version = 0;
  double worst_parameters = 0;
  double worst_move = 0;
  for (int point = 0; point < 20; ++point) {
    const auto before = state ? parameters_of(*state) : Flat{};
    const auto expected = run_until(reference, data, state, version + 1);
    const auto w = parameters_of(expected);
    for (const auto& shape : others) {
      const auto got = parameters_of(run_until(shape, data, state, version + 1));
      const double parameters = relative_distance(got, w, norm(w));
      EXPECT_LE(parameters, 1e-7) << shape.name << " after version " << version;
      worst_parameters = std::max(worst_parameters, parameters);
      if (!before.empty()) {
        const double move = relative_distance(got, w, relative_distance(w, before, 1));
        EXPECT_LE(move, 1e-5) << shape.name << " after version " << version;
        worst_move = std::max(worst_move, move);
      }
    }
    version += 12;
    state = run_until(others[0], data, state, version);
  }
  RecordProperty("worst_relative_l2_of_parameters", std::to_string(worst_parameters * 1e9) + "e-9");
  RecordProperty("worst_relative_l2_of_move", std::to_string(worst_move * 1e9) + "e-9");
  std::printf("worst over 20 points and 4 trees: %.2e of the parameters, %.2e of the move\n",
              worst_parameters, worst_move);
}

TEST(Exactness, AnEpochOfIntegersIsEqualBitForBitOnEveryTreeAndSplit) {
  const std::vector<Shape> shapes{
      {"1 x 64", leaf(1), {64}},
      {"4 x 16", leaf(4), {16}},
      {"4 x 16 in 2 groups", over({leaf(2), leaf(2)}), {16}},
      {"16 + 48", over({leaf(1), leaf(1)}), {16, 48}},
      {"4 x 16 in groups of 1 and 3", over({leaf(1), leaf(3)}), {16}},
      {"3 levels", over({over({leaf(1), leaf(2)}), over({leaf(1)})}), {16}},
      {"7 uneven workers in 4 levels",
       over({over({over({leaf(2), leaf(1)}), leaf(2)}), leaf(2)}),
       {1, 2, 3, 5, 8, 13, 32}},
  };
  Flat expected;
  for (const auto& shape : shapes) {
    for (std::uint64_t shuffle = 0; shuffle < 4; ++shuffle) {
      auto options = options_for(shape);
      options.data = make_index_data(1003);
      options.model = [] { return Result<std::unique_ptr<Model>>(std::make_unique<IntegerModel>()); };
      options.shuffle = shuffle;
      auto result = run_scripted(options);
      ASSERT_TRUE(result) << shape.name << ": " << result.error().text;
      EXPECT_EQ(result->outcome.summary.committed, 1003U) << shape.name;
      const auto got = parameters_of(*result->outcome.snapshot);
      if (expected.empty()) expected = got;
      EXPECT_EQ(got, expected) << shape.name << ", order " << shuffle;
    }
  }
}

TEST(Exactness, TheOrderInWhichActorsRunChangesNoBit) {
  const Shape shape{"5 workers in 3 levels", over({over({leaf(2), leaf(1)}), leaf(2)}), {8}};
  Config config;
  config.data.name = "synthetic";
  config.data.samples = 300;
  auto data = models::load_dataset(config);
  ASSERT_TRUE(data) << data.error().text;
  Flat expected;
  for (std::uint64_t shuffle = 0; shuffle < 12; ++shuffle) {
    auto options = options_for(shape);
    options.data = *data;
    options.config.model.name = "mlp";
    options.shuffle = shuffle;
    auto result = run_scripted(options);
    ASSERT_TRUE(result) << result.error().text;
    const auto got = parameters_of(*result->outcome.snapshot);
    if (expected.empty()) expected = got;
    EXPECT_EQ(got, expected) << "order " << shuffle;
  }
}

}  // namespace
}  // namespace thalweg::testing
