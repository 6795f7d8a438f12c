#include "models/schedule.hpp"

#include "runtime/check.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace thalweg::models {

Schedule::Schedule(const Config& config, std::uint64_t budget_samples)
    : train_(config.train), global_batch_(config.global_batch()), budget_(budget_samples) {}

double Schedule::lr_at(std::uint64_t committed_samples) const {
  const std::uint64_t warmup = train_.warmup_steps * global_batch_;
  const auto position = static_cast<double>(committed_samples);
  if (committed_samples < warmup) {
    const double after = position + static_cast<double>(global_batch_);
    return train_.lr * std::min(1.0, after / static_cast<double>(warmup));
  }
  if (train_.schedule == "cosine") {
    if (budget_ <= warmup) return train_.lr;
    const double rest = static_cast<double>(budget_ - warmup);
    const double t = std::min(1.0, static_cast<double>(committed_samples - warmup) / rest);
    return train_.lr * (1.0 + std::cos(std::numbers::pi * t)) / 2.0;
  }
  if (train_.schedule == "step") {
    double lr = train_.lr;
    for (const double share : train_.step_at) {
      if (share * static_cast<double>(budget_) <= position) lr *= train_.step_factor;
    }
    return lr;
  }
  THALWEG_CHECK(train_.schedule == "constant", "load_config accepts only known schedules");
  return train_.lr;
}

}  // namespace thalweg::models
