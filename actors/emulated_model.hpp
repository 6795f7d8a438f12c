#pragma once

#include "runtime/time/clock.hpp"

#include <thalweg/model.hpp>

#include <chrono>
#include <functional>
#include <memory>

/// A model on a slower machine than there is: each step really computes and then waits until it has taken as
/// long as it would there. Before it the worker, whose stream runs it and measures computing and waiting as
/// one; after it the model proper. Runs, and waits, on the stream's thread: no handler ever waits.
namespace thalweg::actors {

/// How long a worker's steps take.
struct StepLength {
  double sample_s = 0;  ///< seconds for each sample at speed 1; 0: as long as computing takes
  double slow = 1;      ///< so many times slower than that

  /// Of a step of `samples` samples that took `real` to compute: at least `real`.
  [[nodiscard]] std::chrono::nanoseconds of(std::size_t samples, std::chrono::nanoseconds real) const;
};

class EmulatedModel final : public Model {
 public:
  /// Blocks the thread for a time: std::this_thread::sleep_for, or what a test puts in its place.
  using Sleep = std::function<void(std::chrono::nanoseconds)>;

  /// Requires: `clock` outlives this.
  EmulatedModel(std::unique_ptr<Model> model, StepLength length, const Clock& clock, Sleep sleep);

  [[nodiscard]] std::span<const Slot> slots() const override { return model_->slots(); }
  [[nodiscard]] std::size_t input_size() const override { return model_->input_size(); }
  [[nodiscard]] std::size_t classes() const override { return model_->classes(); }
  void initialize(std::span<float> parameters, std::uint64_t seed) const override {
    model_->initialize(parameters, seed);
  }

  /// A step that fails returns at once.
  Result<Score> step(const Input& input, std::span<const float> parameters, std::span<float> gradient_sum,
                     const SlotReady& ready) override;
  Result<Score> evaluate(const Input& input, std::span<const float> parameters) override {
    return model_->evaluate(input, parameters);
  }

 private:
  std::unique_ptr<Model> model_;
  StepLength length_;
  const Clock& clock_;
  Sleep sleep_;
};

}  // namespace thalweg::actors
