#include "gpu/flat.hpp"

#include "gpu/host/flat_kernels.hpp"
#include "runtime/check.hpp"

namespace thalweg::gpu {
namespace host {
namespace {

struct Available {
  const FlatKernels* kernels[3] = {};
  std::size_t count = 0;
};

/// Asked once; constant afterwards.
const Available& available() {
  static const Available found = [] {
    Available result;
    result.kernels[result.count++] = &flat_kernels_baseline();
#ifdef THALWEG_FLAT_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) result.kernels[result.count++] = &flat_kernels_avx2();
    if (__builtin_cpu_supports("avx512f")) result.kernels[result.count++] = &flat_kernels_avx512();
#endif
    return result;
  }();
  return found;
}

const FlatKernels& best() { return *available().kernels[available().count - 1]; }

}  // namespace

std::size_t flat_kernels_count() { return available().count; }

const FlatKernels& flat_kernels_available(std::size_t index) {
  THALWEG_CHECK(index < available().count, "the processor has that many instruction sets");
  return *available().kernels[index];
}

}  // namespace host

void fill(std::span<float> y, float value) { host::best().fill(y.data(), value, y.size()); }

void copy(std::span<float> y, std::span<const float> x) {
  THALWEG_CHECK(x.size() == y.size(), "flat vectors of one call have one length");
  host::best().copy(y.data(), x.data(), y.size());
}

void axpy(std::span<float> y, float a, std::span<const float> x) {
  THALWEG_CHECK(x.size() == y.size(), "flat vectors of one call have one length");
  host::best().axpy(y.data(), a, x.data(), y.size());
}

void scale(std::span<float> y, float a) { host::best().scale(y.data(), a, y.size()); }

void weighted_sum(std::span<float> sum, std::span<const float* const> sources, std::span<const float> weights,
                  bool accumulate) {
  THALWEG_CHECK(weights.empty() || weights.size() == sources.size(),
                "every source has a weight, or none has");
  host::best().weighted_sum(sum.data(), sources.data(), weights.empty() ? nullptr : weights.data(),
                            sources.size(), accumulate, sum.size());
}

void sgd_step(std::span<float> next, std::span<const float> w, std::span<const float> gradient_sum,
              std::span<float> velocity, const SgdCoefficients& coefficients) {
  THALWEG_CHECK(w.size() == next.size() && gradient_sum.size() == next.size(),
                "flat vectors of one call have one length");
  THALWEG_CHECK(velocity.size() == next.size() || (velocity.empty() && coefficients.momentum == 0),
                "momentum needs a velocity as long as the parameters");
  const auto& [lr, momentum, weight_decay, gradient_scale, nesterov, first] = coefficients;
  host::best().sgd_step(next.data(), w.data(), gradient_sum.data(),
                        velocity.empty() ? nullptr : velocity.data(),
                        {lr, momentum, weight_decay, gradient_scale, nesterov, first}, next.size());
}

const char* flat_kernel_isa() { return host::best().isa; }

}  // namespace thalweg::gpu
