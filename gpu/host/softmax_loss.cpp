#include "gpu/host/softmax_loss.hpp"

#include "runtime/check.hpp"

#include <cmath>
#include <limits>

namespace thalweg::gpu::host {

[[gnu::noinline]] Score softmax_cross_entropy(const float* logits, const std::int32_t* labels, float* dlogits,
                                              std::size_t samples, std::size_t classes) {
  Score score;
  score.samples = samples;
  for (std::size_t sample = 0; sample < samples; ++sample) {
    const float* z = logits + sample * classes;
    THALWEG_CHECK(labels[sample] >= 0 && static_cast<std::size_t>(labels[sample]) < classes,
                  "a label is a class of the model");
    const auto label = static_cast<std::size_t>(labels[sample]);

    std::size_t largest = 0;
    bool finite = true;
    for (std::size_t c = 0; c < classes; ++c) {
      finite = finite && std::isfinite(z[c]);
      if (z[c] > z[largest]) largest = c;
    }
    float sum = 0;
    for (std::size_t c = 0; c < classes; ++c) sum += std::exp(z[c] - z[largest]);

    // One bad logit makes the whole loss NaN, which the worker reports; a sum that happens to stay finite
    // (one logit at minus infinity) would hide it.
    score.loss_sum += finite ? static_cast<double>(std::log(sum)) + static_cast<double>(z[largest] - z[label])
                             : std::numeric_limits<double>::quiet_NaN();
    if (largest == label) ++score.correct;

    if (dlogits == nullptr) continue;
    float* dz = dlogits + sample * classes;
    for (std::size_t c = 0; c < classes; ++c) dz[c] = std::exp(z[c] - z[largest]) / sum;
    dz[label] -= 1;
  }
  return score;
}

}  // namespace thalweg::gpu::host
