#pragma once

#include "actors/rules/decision.hpp"
#include "runtime/values/contribution.hpp"

#include <cmath>

/// Beside the five choices, in every method: is a worker's contribution any good? Asked by the first
/// aggregator that it meets.
namespace thalweg::rules {

struct GuardView {
  Round round;
  std::uint64_t worker = 0;
  std::uint64_t samples = 0;
  double loss_sum = 0;
  double squared_norm = 0;  ///< of the payload: finite exactly when all its numbers are
};

enum class GuardAction { accept, refuse_not_finite, refuse_too_large };

class Guard {
 public:
  /// `max_norm`: bound for the norm of the mean gradient, ‖payload‖ / n; 0: none.
  explicit Guard(double max_norm = 0) : max_norm_(max_norm) {}

  [[nodiscard]] Decision<GuardAction> decide(const GuardView& view) const {
    if (!std::isfinite(view.loss_sum) || !std::isfinite(view.squared_norm)) {
      return {GuardAction::refuse_not_finite,
              {"refuses what w{} contributes to round {}: its numbers are not finite",
               {view.worker, view.round.value}}};
    }
    if (max_norm_ > 0 && view.samples > 0 &&
        std::sqrt(view.squared_norm) > max_norm_ * static_cast<double>(view.samples)) {
      return {GuardAction::refuse_too_large,
              {"refuses what w{} contributes to round {}: its gradient is larger than guard.max_norm",
               {view.worker, view.round.value}}};
    }
    return {GuardAction::accept, {"takes what w{} contributes to round {}", {view.worker, view.round.value}}};
  }

 private:
  double max_norm_;
};

}  // namespace thalweg::rules
