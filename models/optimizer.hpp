#pragma once

#include "models/named_state.hpp"
#include "runtime/pool/task_pool.hpp"

#include <thalweg/config.hpp>
#include <thalweg/model.hpp>

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace thalweg::models {

/// The root's update of w, PyTorch's definitions. Owns the optimizer's state. One thread at a time; large
/// vectors are split over `pool` (null: not), with the same bits.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// next = step(w, gradient_scale * gradient_sum, lr); the scale is 1 / samples, less where the gradient is
  /// clipped. Weight decay applies to slots whose `decay` is set. `next` may be `w`: a step in place gives
  /// the same bits. Returns whether all of `next` is finite, which is looked at while it is still in the
  /// cache; a caller that wants the state untouched by a sum that is not finite looks at the sum first.
  /// Requires: all spans hold flat_size(slots) floats.
  virtual bool step(std::span<float> next, std::span<const float> w, std::span<const float> gradient_sum,
                    double gradient_scale, double lr, TaskPool* pool) = 0;

  /// State to save and restore, as named flat vectors ("momentum"; "exp_avg", "exp_avg_sq"); empty before the
  /// first step.
  using NamedState = models::NamedState;
  [[nodiscard]] virtual std::vector<NamedState> state() = 0;
  [[nodiscard]] virtual std::uint64_t steps() const = 0;
  /// Takes over a saved state. Fails: `mismatch`, naming what is missing, surplus or of another size.
  virtual Status restore(std::span<const NamedState> saved, std::uint64_t steps) = 0;
};

/// Fails: `invalid` for an unknown `train.optimizer`.
Result<std::unique_ptr<Optimizer>> make_optimizer(const Config::Train& train, std::vector<Slot> slots);

/// The root's optimizer where contributions are moves, n·(base - x): their mean Δ stands for the gradient.
/// "sgd" with momentum 0 and lr 1 is local SGD's w - Δ; "nesterov" with momentum 0.9 and lr 0.7 is the outer
/// step of DiLoCo (Douillard et al., "DiLoCo: Distributed Low-Communication Training of Language Models",
/// 2023), by PyTorch's definition. No weight decay: what decays has decayed in the local steps.
/// Fails: `invalid` for an unknown `kind`.
Result<std::unique_ptr<Optimizer>> make_outer_optimizer(std::string_view kind, double momentum,
                                                        std::vector<Slot> slots);

/// A worker's optimizer in local steps. "sgd": plain, without momentum and weight decay; "adamw": DiLoCo's,
/// betas 0.9 and 0.95, weight decay 0.1; "train": what `train` says. Clipping is the caller's
/// (models/clip.hpp). Fails: `invalid` for an unknown `kind`, or as make_optimizer.
Result<std::unique_ptr<Optimizer>> make_inner_optimizer(std::string_view kind, const Config::Train& train,
                                                        std::vector<Slot> slots);

}  // namespace thalweg::models
