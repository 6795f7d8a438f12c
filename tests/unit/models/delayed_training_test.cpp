#include "gpu/flat.hpp"
#include "models/delay_compensation.hpp"
#include "models/optimizer.hpp"
#include "runtime/time/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

/// What compensation is worth where the delay hurts: FLSGD written out in plain loops, without actors, on a
/// toy. A network of 20 inputs, 32 tanh units and 5 classes learns what a random one of its kind says of
/// normal inputs. Four workers take 16 local steps of 8 samples with a learning rate of 2 in each phase; the
/// root takes one step with the sum of a phase's gradients, one commit late.
namespace thalweg::models {
namespace {

using Values = std::vector<float>;

constexpr std::size_t inputs = 20, hidden = 32, classes = 5;
constexpr std::size_t bias1 = inputs * hidden, weights2 = bias1 + hidden, bias2 = weights2 + hidden * classes,
                      count = bias2 + classes;
constexpr std::size_t parameters = (count + 15) / 16 * 16;  ///< with the padding of flat vectors
constexpr std::size_t samples = 512, workers = 4, batch = 8, local_steps = 16, rounds = 15, seeds = 5;
constexpr float lr = 2;

using Hidden = std::array<float, hidden>;
using Scores = std::array<float, classes>;

struct Data {
  Values x;  ///< [sample][input]
  std::vector<std::size_t> labels;
  [[nodiscard]] std::span<const float> sample(std::size_t i) const {
    return std::span(x).subspan(i * inputs, inputs);
  }
};

Scores forward(std::span<const float> w, std::span<const float> x, Hidden& h) {
  for (std::size_t j = 0; j < hidden; ++j) {
    float sum = w[bias1 + j];
    for (std::size_t i = 0; i < inputs; ++i) sum += w[j * inputs + i] * x[i];
    h[j] = std::tanh(sum);
  }
  Scores scores{};
  for (std::size_t k = 0; k < classes; ++k) {
    scores[k] = w[bias2 + k];
    for (std::size_t j = 0; j < hidden; ++j) scores[k] += w[weights2 + k * hidden + j] * h[j];
  }
  return scores;
}

/// Turns scores into probabilities; returns the cross-entropy loss for `label`.
float softmax(Scores& scores, std::size_t label) {
  const float most = *std::ranges::max_element(scores);
  const float margin = scores[label] - most;
  float total = 0;
  for (float& score : scores) {
    score = std::exp(score - most);
    total += score;
  }
  for (float& score : scores) score /= total;
  return std::log(total) - margin;
}

/// Adds one sample's gradient to `gradient`.
void add_gradient(std::span<const float> w, std::span<const float> x, std::size_t label,
                  std::span<float> gradient) {
  Hidden h{}, back{};
  Scores scores = forward(w, x, h);
  softmax(scores, label);
  scores[label] -= 1;
  for (std::size_t k = 0; k < classes; ++k) {
    gradient[bias2 + k] += scores[k];
    for (std::size_t j = 0; j < hidden; ++j) {
      gradient[weights2 + k * hidden + j] += scores[k] * h[j];
      back[j] += scores[k] * w[weights2 + k * hidden + j];
    }
  }
  for (std::size_t j = 0; j < hidden; ++j) {
    const float d = back[j] * (1 - h[j] * h[j]);
    gradient[bias1 + j] += d;
    for (std::size_t i = 0; i < inputs; ++i) gradient[j * inputs + i] += d * x[i];
  }
}

/// Weights of deviation 1 / sqrt(fan_in); biases 0.
Values random_network(Random& random) {
  Values w(parameters);
  for (std::size_t i = 0; i < bias1; ++i) w[i] = static_cast<float>(random.normal() / std::sqrt(inputs));
  for (std::size_t i = weights2; i < bias2; ++i) {
    w[i] = static_cast<float>(random.normal() / std::sqrt(hidden));
  }
  return w;
}

Data make_data(std::uint64_t seed) {
  Random random(seed, 1);
  const Values teacher = random_network(random);
  Data data;
  data.x.resize(samples * inputs);
  for (float& value : data.x) value = static_cast<float>(random.normal());
  for (std::size_t i = 0; i < samples; ++i) {
    Hidden h{};
    const Scores scores = forward(teacher, data.sample(i), h);
    data.labels.push_back(static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin()));
  }
  return data;
}

double mean_loss(const Data& data, std::span<const float> w) {
  double sum = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    Hidden h{};
    Scores scores = forward(w, data.sample(i), h);
    sum += static_cast<double>(softmax(scores, data.labels[i]));
  }
  return sum / samples;
}

/// All workers' local phase from `start`: the sum of the gradients of all samples.
Values local_phase(const Data& data, const Values& start, Random& random) {
  Values sum(parameters), gradient(parameters);
  for (std::size_t worker = 0; worker < workers; ++worker) {
    Values replica = start;
    for (std::size_t step = 0; step < local_steps; ++step) {
      gpu::fill(gradient, 0);
      for (std::size_t i = 0; i < batch; ++i) {
        const auto sample = static_cast<std::size_t>(random.below(samples));
        add_gradient(replica, data.sample(sample), data.labels[sample], gradient);
      }
      gpu::axpy(sum, 1, gradient);
      gpu::axpy(replica, -lr / batch, gradient);
    }
  }
  return sum;
}

/// The final loss, or infinity. Phases 0 and 1 start from w_0, phase t from w_{t-1} when the one before is
/// still in flight (`delayed`), and `compensation` is null where λ is 0.
double train(std::uint64_t seed, bool delayed, DelayCompensation* compensation) {
  const Data data = make_data(seed);
  Random random(seed, 2);
  Values w = random_network(random), base = w, mean(parameters);
  const auto root = make_outer_optimizer("sgd", 0, {{"w", {count}, 0, count, true}});
  constexpr double scale = 1.0 / (workers * local_steps * batch);
  for (std::size_t round = 0; round < rounds; ++round) {
    const Values& start = delayed ? base : w;
    const Values sum = local_phase(data, start, random);
    Values next(parameters);
    bool finite = true;
    if (compensation != nullptr) {
      finite = compensation->compensate(mean, sum, scale, w, start, nullptr) &&
               (*root)->step(next, w, mean, 1, lr * local_steps, nullptr);
    } else {
      finite = (*root)->step(next, w, sum, scale, lr * local_steps, nullptr);
    }
    if (!finite) return std::numeric_limits<double>::infinity();
    base = std::exchange(w, next);
  }
  return mean_loss(data, w);
}

struct Variant {
  const char* name;
  bool delayed;
  std::optional<DelayCompensation::Options> compensation;
};

double mean_over_seeds(const Variant& variant, std::uint64_t first_seed) {
  double sum = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    std::optional<DelayCompensation> compensation;
    if (variant.compensation) compensation.emplace(*variant.compensation, parameters);
    sum += train(seed, variant.delayed, compensation ? &*compensation : nullptr);
  }
  return sum / seeds;
}

TEST(DelayedTraining, AdaptiveCompensationTakesAQuarterOfTheLossOffAtLeast) {
  using Mode = DelayCompensation::Mode;
  const Variant variants[] = {
      {"uncompensated", true, {}},
      {"constant 0.04", true, {{.mode = Mode::constant, .lambda = 0.04}}},
      {"constant 2", true, {{.mode = Mode::constant, .lambda = 2}}},
      {"adaptive 2", true, {{.mode = Mode::adaptive, .lambda = 2}}},
      {"adaptive 2, not clamped", true, {{.mode = Mode::adaptive, .lambda = 2, .clamp = false}}},
      {"no delay", false, {}}};
  std::vector<double> losses;
  for (const Variant& variant : variants) {
    losses.push_back(mean_over_seeds(variant, 1));
    std::printf("%-24s final loss %.3g\n", variant.name, losses.back());
  }
  const double uncompensated = losses[0], adaptive = losses[3], prompt = losses[5];
  EXPECT_LE(adaptive, 0.75 * uncompensated);
  EXPECT_LE(prompt, adaptive);
}

}  // namespace
}  // namespace thalweg::models
