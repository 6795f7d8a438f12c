#pragma once

#include "tests/sim/job.hpp"
#include "tests/support/integer_model.hpp"

#include <cstdint>
#include <vector>

namespace thalweg::sim {

/// The integer model, and what goes wrong on one worker's stream: it throws, fails, or computes numbers that
/// are no good.
class TroubledModel final : public testing::IntegerModel {
 public:
  /// `bad_sample`: one whose gradient is never finite, whoever computes it.
  TroubledModel(std::size_t floats, std::vector<Trouble> troubles, std::optional<std::uint64_t> bad_sample);

  Result<Score> step(const Input& input, std::span<const float> parameters, std::span<float> gradient_sum,
                     const SlotReady& ready) override;

 private:
  std::vector<Trouble> troubles_;
  std::optional<std::uint64_t> bad_sample_;
  std::uint64_t steps_ = 0;
};

}  // namespace thalweg::sim
