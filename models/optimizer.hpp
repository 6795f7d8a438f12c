#pragma once

#include "runtime/pool/task_pool.hpp"

#include <thalweg/config.hpp>
#include <thalweg/model.hpp>

#include <memory>
#include <span>
#include <vector>

namespace thalweg::models {

/// The root's update of w, PyTorch's definitions. Owns the optimizer's state. One thread at a time; large
/// vectors are split over `pool` (null: not), with the same bits.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// next = step(w, gradient_scale * gradient_sum, lr); the scale is 1 / samples, less where the gradient is
  /// clipped. Weight decay applies to slots whose `decay` is set. Returns
  /// whether all of `next` is finite, which is looked at while it is still in the cache.
  /// Requires: all spans hold flat_size(slots) floats.
  virtual bool step(std::span<float> next, std::span<const float> w, std::span<const float> gradient_sum,
                    double gradient_scale, double lr, TaskPool* pool) = 0;

  /// State to save and restore, as named flat vectors ("momentum"; "exp_avg", "exp_avg_sq"); empty before the
  /// first step.
  struct NamedState {
    std::string name;
    std::span<float> values;
  };
  [[nodiscard]] virtual std::vector<NamedState> state() = 0;
  [[nodiscard]] virtual std::uint64_t steps() const = 0;
  /// Takes over a saved state. Fails: `mismatch`, naming what is missing, surplus or of another size.
  virtual Status restore(std::span<const NamedState> saved, std::uint64_t steps) = 0;
};

/// Fails: `invalid` for an unknown `train.optimizer`.
Result<std::unique_ptr<Optimizer>> make_optimizer(const Config::Train& train, std::vector<Slot> slots);

}  // namespace thalweg::models
