#include "actors/emulated_model.hpp"

#include <algorithm>
#include <utility>

namespace thalweg::actors {

std::chrono::nanoseconds StepLength::of(std::size_t samples, std::chrono::nanoseconds real) const {
  const double at_speed_one = sample_s > 0 ? sample_s * static_cast<double>(samples) : seconds(real);
  // A century bounds what a job file can ask for, and fits into nanoseconds.
  constexpr double longest_s = 100.0 * 366 * 24 * 3600;
  const std::chrono::duration<double> wanted(std::min(at_speed_one * slow, longest_s));
  return std::max(real, std::chrono::duration_cast<std::chrono::nanoseconds>(wanted));
}

EmulatedModel::EmulatedModel(std::unique_ptr<Model> model, StepLength length, const Clock& clock, Sleep sleep)
    : model_(std::move(model)), length_(length), clock_(clock), sleep_(std::move(sleep)) {}

Result<Score> EmulatedModel::step(const Input& input, std::span<const float> parameters,
                                  std::span<float> gradient_sum, const SlotReady& ready) {
  const auto began = clock_.now();
  auto score = model_->step(input, parameters, gradient_sum, ready);
  if (!score) return score;
  const auto end = began + length_.of(input.count(), clock_.now() - began);
  if (const auto left = end - clock_.now(); left.count() > 0) sleep_(left);
  return score;
}

}  // namespace thalweg::actors
