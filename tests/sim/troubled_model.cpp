#include "tests/sim/troubled_model.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace thalweg::sim {

TroubledModel::TroubledModel(std::size_t floats, std::vector<Trouble> troubles,
                             std::optional<std::uint64_t> bad_sample)
    : IntegerModel(floats), troubles_(std::move(troubles)), bad_sample_(bad_sample) {}

Result<Score> TroubledModel::step(const Input& input, std::span<const float> parameters,
                                  std::span<float> gradient_sum, const SlotReady& ready) {
  auto score = IntegerModel::step(input, parameters, gradient_sum, ready);
  const auto step = steps_++;
  if (bad_sample_ &&
      std::find(input.samples.begin(), input.samples.end(), *bad_sample_) != input.samples.end()) {
    gradient_sum[0] = std::numeric_limits<float>::infinity();
  }
  for (const auto& trouble : troubles_) {
    if (step < trouble.step || step >= trouble.step + trouble.times) continue;
    switch (trouble.kind) {
      case Trouble::Kind::throws:
        throw std::runtime_error("thrown by the simulation");
      case Trouble::Kind::fails:
        return Error{ErrorCode::failed, "failed by the simulation"};
      case Trouble::Kind::killed:
        break;  // not the model's doing
      case Trouble::Kind::not_finite:
        gradient_sum[0] = std::numeric_limits<float>::quiet_NaN();
        break;
      case Trouble::Kind::loss_not_finite:
        score->loss_sum = std::numeric_limits<double>::infinity();
        break;
      case Trouble::Kind::too_large:
        for (auto& number : gradient_sum) number = 1e6F * (number + 1);
        break;
    }
  }
  return score;
}

}  // namespace thalweg::sim
