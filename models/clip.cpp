#include "models/clip.hpp"

#include "gpu/flat.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace thalweg::models {

double clip_scale(std::span<const float> gradient_sum, std::uint64_t samples, double clip_norm,
                  TaskPool* pool) {
  if (clip_norm == 0) return 1;
  // Pieces of one size, added in their order, give the same bits on any number of threads.
  constexpr std::size_t piece = std::size_t{1} << 16;
  std::vector<double> squares((gradient_sum.size() + piece - 1) / piece);
  const auto add = [&](std::size_t begin, std::size_t end) {
    for (; begin < end; begin += piece) {
      squares[begin / piece] = gpu::squared_norm(gradient_sum.subspan(begin, std::min(piece, end - begin)));
    }
  };
  if (pool != nullptr) {
    pool->parallel_for(gradient_sum.size(), piece, add);
  } else {
    add(0, gradient_sum.size());
  }
  const double norm = std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
  const auto count = static_cast<double>(samples);
  return std::min(1.0, clip_norm * count / (norm + 1e-6 * count));
}

}  // namespace thalweg::models
