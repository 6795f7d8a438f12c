#pragma once

#include "gpu/buffer.hpp"
#include "models/named_state.hpp"
#include "runtime/pool/task_pool.hpp"

#include <thalweg/result.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace thalweg::models {

/// Makes up for a gradient's delay before the optimizer steps with it: of a sum that was taken at w_base, and
/// arrives when the parameters are w, it makes the mean as it would be at w, to first order. The diagonal of
/// the gradient's outer product stands for the Hessian (Zheng et al., "Asynchronous Stochastic Gradient
/// Descent with Delay Compensation", 2017):
///
///     ĝ = gradient_scale · gradient_sum        out = ĝ · (1 + c),   c = Λ · ĝ · (w - w_base)
///
/// constant: Λ = lambda. adaptive: Λ = lambda / sqrt(MS + eps), MS ← decay · MS + (1 - decay) · ĝ² before it
/// is used, and ĝ² itself the first time. With `clamp`, c is at most 1 either way: what is added to a
/// gradient is no more than the gradient itself.
///
/// Owned by the root beside its optimizer, which takes `out` with gradient_scale 1. One thread at a time.
class DelayCompensation {
 public:
  enum class Mode : std::uint8_t { constant, adaptive };
  struct Options {
    Mode mode = Mode::adaptive;
    std::optional<double> lambda = {};  ///< none: 0.04 where constant, 2 where adaptive
    bool clamp = true;
    double decay = 0.95;  ///< adaptive only, as is eps
    double eps = 1e-7;
  };

  /// For flat vectors of `size` floats.
  DelayCompensation(Options options, std::size_t size);

  /// Writes the compensated mean to `out`, over `pool` where it is large (null: not), with the same bits.
  /// `out` may be `gradient_sum`, and `w_base` may be `w`: there was no delay then, out = ĝ, and MS goes on.
  /// Returns whether all of `out` and MS is finite. A sum that is not finite has touched neither `out` nor
  /// the state; a false for another reason leaves a state that must not be gone on with. Requires: all spans
  /// hold `size` floats.
  bool compensate(std::span<float> out, std::span<const float> gradient_sum, double gradient_scale,
                  std::span<const float> w, std::span<const float> w_base, TaskPool* pool);

  static constexpr const char* mean_square_name = "mean_square";
  /// State to save and restore: "mean_square" where adaptive; empty before the first call.
  [[nodiscard]] std::vector<NamedState> state();
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  /// Takes over a saved state. Fails: `mismatch`, naming what is missing, surplus or of another size.
  Status restore(std::span<const NamedState> saved, std::uint64_t steps);

 private:
  void make_mean_square();
  std::span<float> mean_square() { return mean_square_ ? mean_square_->values() : std::span<float>{}; }

  Options options_;
  float lambda_;
  std::size_t size_;
  std::uint64_t steps_ = 0;
  std::shared_ptr<gpu::Buffer> mean_square_;  ///< null until it is needed
};

}  // namespace thalweg::models
