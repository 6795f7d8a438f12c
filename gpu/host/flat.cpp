#include "gpu/flat.hpp"

#include "gpu/host/isa_kernels.hpp"
#include "runtime/check.hpp"

namespace thalweg::gpu {
void fill(std::span<float> y, float value) { host::best_isa_kernels().flat.fill(y.data(), value, y.size()); }

void copy(std::span<float> y, std::span<const float> x) {
  THALWEG_CHECK(x.size() == y.size(), "flat vectors of one call have one length");
  host::best_isa_kernels().flat.copy(y.data(), x.data(), y.size());
}

void axpy(std::span<float> y, float a, std::span<const float> x) {
  THALWEG_CHECK(x.size() == y.size(), "flat vectors of one call have one length");
  host::best_isa_kernels().flat.axpy(y.data(), a, x.data(), y.size());
}

void scale(std::span<float> y, float a) { host::best_isa_kernels().flat.scale(y.data(), a, y.size()); }

void weighted_sum(std::span<float> sum, std::span<const float* const> sources, std::span<const float> weights,
                  bool accumulate) {
  THALWEG_CHECK(weights.empty() || weights.size() == sources.size(),
                "every source has a weight, or none has");
  host::best_isa_kernels().flat.weighted_sum(sum.data(), sources.data(),
                                             weights.empty() ? nullptr : weights.data(), sources.size(),
                                             accumulate, sum.size());
}

void sgd_step(std::span<float> next, std::span<const float> w, std::span<const float> gradient_sum,
              std::span<float> velocity, const SgdCoefficients& coefficients) {
  THALWEG_CHECK(w.size() == next.size() && gradient_sum.size() == next.size(),
                "flat vectors of one call have one length");
  THALWEG_CHECK(velocity.size() == next.size() || (velocity.empty() && coefficients.momentum == 0),
                "momentum needs a velocity as long as the parameters");
  const auto& [lr, momentum, weight_decay, gradient_scale, nesterov, first] = coefficients;
  host::best_isa_kernels().flat.sgd_step(
      next.data(), w.data(), gradient_sum.data(), velocity.empty() ? nullptr : velocity.data(),
      {lr, momentum, weight_decay, gradient_scale, nesterov, first}, next.size());
}

void adamw_step(std::span<float> next, std::span<const float> w, std::span<const float> gradient_sum,
                std::span<float> m, std::span<float> v, const AdamWCoefficients& with) {
  THALWEG_CHECK(w.size() == next.size() && gradient_sum.size() == next.size() && m.size() == next.size() &&
                    v.size() == next.size(),
                "flat vectors of one call have one length");
  host::best_isa_kernels().flat.adamw_step(
      next.data(), w.data(), gradient_sum.data(), m.data(), v.data(),
      {with.keep, with.beta1, with.beta2, with.rest1, with.rest2, with.step_size, with.root_correction,
       with.eps, with.gradient_scale},
      next.size());
}

void move(std::span<float> out, std::span<const float> base, std::span<const float> x, float n) {
  THALWEG_CHECK(base.size() == out.size() && x.size() == out.size(),
                "flat vectors of one call have one length");
  host::best_isa_kernels().flat.move(out.data(), base.data(), x.data(), n, out.size());
}

void mix(std::span<float> y, std::span<const float> x, float share) {
  THALWEG_CHECK(x.size() == y.size(), "flat vectors of one call have one length");
  host::best_isa_kernels().flat.mix(y.data(), x.data(), share, y.size());
}

void shift(std::span<float> out, std::span<const float> w, std::span<const float> x,
           std::span<const float> start) {
  THALWEG_CHECK(w.size() == out.size() && x.size() == out.size() && start.size() == out.size(),
                "flat vectors of one call have one length");
  host::best_isa_kernels().flat.shift(out.data(), w.data(), x.data(), start.data(), out.size());
}

void compensate(std::span<float> out, std::span<const float> gradient_sum, std::span<const float> w,
                std::span<const float> w_base, std::span<float> mean_square,
                const CompensationCoefficients& with) {
  THALWEG_CHECK(gradient_sum.size() == out.size() && w.size() == out.size() && w_base.size() == out.size() &&
                    (mean_square.empty() || mean_square.size() == out.size()),
                "flat vectors of one call have one length");
  host::best_isa_kernels().flat.compensate(
      out.data(), gradient_sum.data(), w.data(), w_base.data(),
      mean_square.empty() ? nullptr : mean_square.data(),
      {with.lambda, with.gradient_scale, with.decay, with.rest, with.eps, with.clamp, with.first},
      out.size());
}

bool all_finite(std::span<const float> x) {
  return host::best_isa_kernels().flat.all_finite(x.data(), x.size());
}

double squared_norm(std::span<const float> x) {
  return host::best_isa_kernels().flat.squared_norm(x.data(), x.size());
}

const char* flat_kernel_isa() { return host::best_isa_kernels().name; }

}  // namespace thalweg::gpu
