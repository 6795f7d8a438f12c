#include "actors/fold.hpp"

#include "gpu/flat.hpp"
#include "runtime/check.hpp"

namespace thalweg::actors {

void fold(gpu::Buffer& sum, std::span<const Payload> sources, std::span<const float> weights, bool accumulate,
          TaskPool* pool) {
  const auto out = sum.values();
  for (const auto& source : sources) {
    THALWEG_CHECK(source->size() == out.size(), "contributions have the length of the model's flat vector");
  }
  const auto piece = [&](std::size_t begin, std::size_t end) {
    std::vector<const float*> from;
    from.reserve(sources.size());
    for (const auto& source : sources) from.push_back(source->host().data() + begin);
    gpu::weighted_sum(out.subspan(begin, end - begin), from, weights, accumulate);
  };
  if (pool == nullptr) {
    piece(0, out.size());
  } else {
    pool->parallel_for(out.size(), fold_inline_bytes_max / sizeof(float) / 4, piece);
  }
}

}  // namespace thalweg::actors
