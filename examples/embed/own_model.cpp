// A network of one's own, trained by the runtime inside another program: softmax regression in plain loops,
// four workers in two groups, events while it goes on, and a stop when it is good enough.
#include <thalweg/cluster.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace {

/// One linear layer: weight [classes, inputs] and bias [classes].
class SoftmaxRegression final : public thalweg::Model {
 public:
  SoftmaxRegression(std::size_t inputs, std::size_t classes)
      : inputs_(inputs), classes_(classes), scores_(classes) {
    const std::size_t weights = inputs * classes;
    slots_ = {{"linear.weight", {classes, inputs}, 0, weights, true},
              {"linear.bias", {classes}, (weights + 15) / 16 * 16, classes, false}};
  }

  [[nodiscard]] std::span<const thalweg::Slot> slots() const override { return slots_; }
  [[nodiscard]] std::size_t input_size() const override { return inputs_; }
  [[nodiscard]] std::size_t classes() const override { return classes_; }
  // Zeros will do where there is one layer.
  void initialize(std::span<float> parameters, std::uint64_t /*seed*/) const override {
    std::fill(parameters.begin(), parameters.end(), 0.0F);
  }

  thalweg::Result<thalweg::Score> step(const thalweg::Input& input, std::span<const float> parameters,
                                       std::span<float> gradient_sum,
                                       const thalweg::SlotReady& ready) override {
    std::fill(gradient_sum.begin(), gradient_sum.end(), 0.0F);
    thalweg::Score score;
    for (std::size_t i = 0; i < input.count(); ++i) {
      const float* x = input.features.data() + i * inputs_;
      score += forward(x, input.labels[i], parameters);
      for (std::size_t c = 0; c < classes_; ++c) {
        const float slope = scores_[c] - (static_cast<std::int32_t>(c) == input.labels[i] ? 1.0F : 0.0F);
        float* weight = gradient_sum.data() + c * inputs_;
        for (std::size_t k = 0; k < inputs_; ++k) weight[k] += slope * x[k];
        gradient_sum[slots_[1].offset + c] += slope;
      }
    }
    ready(1);
    ready(0);
    return score;
  }

  thalweg::Result<thalweg::Score> evaluate(const thalweg::Input& input,
                                           std::span<const float> parameters) override {
    thalweg::Score score;
    for (std::size_t i = 0; i < input.count(); ++i) {
      score += forward(input.features.data() + i * inputs_, input.labels[i], parameters);
    }
    return score;
  }

 private:
  /// Leaves the probabilities in `scores_`.
  thalweg::Score forward(const float* x, std::int32_t label, std::span<const float> parameters) {
    for (std::size_t c = 0; c < classes_; ++c) {
      const float* weight = parameters.data() + c * inputs_;
      float sum = parameters[slots_[1].offset + c];
      for (std::size_t k = 0; k < inputs_; ++k) sum += weight[k] * x[k];
      scores_[c] = sum;
    }
    const auto best = std::max_element(scores_.begin(), scores_.end());
    const float most = *best;
    const bool right = best - scores_.begin() == label;
    float total = 0;
    for (float& each : scores_) total += each = std::exp(each - most);
    for (float& each : scores_) each /= total;
    const double loss = -std::log(std::max(scores_[static_cast<std::size_t>(label)], 1e-30F));
    return {loss, right ? 1U : 0U, 1};
  }

  std::size_t inputs_, classes_;
  std::vector<thalweg::Slot> slots_;
  std::vector<float> scores_;
};

}  // namespace

int main(int argc, char** argv) {
  thalweg::Config config;
  config.data.name = "synthetic";
  config.topology.workers = 4;
  config.topology.groups = 2;
  config.train.epochs = 50;
  config.train.lr = 0.02;
  if (argc > 1) config.run.out = argv[1];

  thalweg::ClusterOptions options;
  options.model = []() -> thalweg::Result<std::unique_ptr<thalweg::Model>> {
    return std::unique_ptr<thalweg::Model>(std::make_unique<SoftmaxRegression>(28 * 28, 10));
  };
  // Called on a thread of the run's.
  options.on_event = [](const thalweg::RunEvent& event) {
    if (const auto* evaluated = std::get_if<thalweg::Evaluated>(&event)) {
      std::printf("epoch %.0f: accuracy %.3f\n", evaluated->epoch, evaluated->accuracy);
    }
  };
  config.stop.target_accuracy = 0.95;
  auto cluster = thalweg::Cluster::start(config, std::move(options));
  if (!cluster) {
    std::fprintf(stderr, "cannot start: %s\n", cluster.error().text.c_str());
    return 1;
  }
  const auto summary = cluster->wait();
  if (!summary) {
    std::fprintf(stderr, "the run failed: %s\n", summary.error().text.c_str());
    return 1;
  }
  std::printf("own model: accuracy %.3f after %llu commits, ended by %s, in %s\n", summary->accuracy,
              static_cast<unsigned long long>(summary->commits), summary->ended_by.c_str(),
              summary->folder.c_str());
}
