#include "models/evaluate.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace thalweg::models {

Result<Score> evaluate(Model& model, const Dataset& data, std::span<const float> parameters) {
  constexpr std::uint64_t chunk = 256;  // large enough to compute well, small enough to stay in cache
  Score total;
  BatchData batch;
  std::vector<std::uint32_t> indices;
  for (std::uint64_t begin = 0; begin < data.size(); begin += chunk) {
    indices.resize(std::min(chunk, data.size() - begin));
    std::iota(indices.begin(), indices.end(), static_cast<std::uint32_t>(begin));
    data.read(indices, batch);
    auto score = model.evaluate(batch.input(), parameters);
    if (!score) return score.error();
    total += *score;
  }
  return total;
}

}  // namespace thalweg::models
