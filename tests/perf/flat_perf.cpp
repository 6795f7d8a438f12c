#include "actors/fold.hpp"
#include "gpu/buffer.hpp"
#include "gpu/flat.hpp"

#include <benchmark/benchmark.h>

#include <vector>

/// Kernels over flat vectors and the fold made of them, by size: lenet5's vector, and one that no cache
/// holds. Counters are bytes that have to be moved.
namespace thalweg {
namespace {

constexpr std::int64_t lenet5 = 61'760;
constexpr std::int64_t large = std::int64_t{1} << 22;

/// As many vectors as a kernel takes.
class Vectors {
 public:
  Vectors(std::size_t count, std::size_t floats) {
    const auto pool = gpu::BufferPool::make_host(floats, count);
    for (std::size_t i = 0; i < count; ++i) {
      buffers_.push_back(pool->take());
      gpu::fill(buffers_.back()->values(), 1.0F);
    }
  }
  std::span<float> operator[](std::size_t i) { return buffers_[i]->values(); }
  gpu::Buffer& buffer(std::size_t i) { return *buffers_[i]; }
  [[nodiscard]] std::vector<Payload> from(std::size_t first) const {
    return {buffers_.begin() + static_cast<std::ptrdiff_t>(first), buffers_.end()};
  }

 private:
  std::vector<std::shared_ptr<gpu::Buffer>> buffers_;
};

/// Runs `kernel` on `count` vectors of the size that the benchmark is for; `moved` of them go through memory.
template <class Kernel>
void measure(benchmark::State& state, std::size_t count, std::size_t moved, const Kernel& kernel) {
  const auto floats = static_cast<std::size_t>(state.range(0));
  Vectors vectors(count, floats);
  for (auto _ : state) {
    kernel(vectors);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(moved * floats * sizeof(float)));
}

void fill(benchmark::State& state) {
  measure(state, 1, 1, [](Vectors& v) { gpu::fill(v[0], 2.0F); });
}
void copy(benchmark::State& state) {
  measure(state, 2, 2, [](Vectors& v) { gpu::copy(v[0], v[1]); });
}
void axpy(benchmark::State& state) {
  measure(state, 2, 3, [](Vectors& v) { gpu::axpy(v[0], 0.5F, v[1]); });
}
void scale(benchmark::State& state) {
  measure(state, 1, 2, [](Vectors& v) { gpu::scale(v[0], 1.0F); });
}
void sgd_step(benchmark::State& state) {
  const gpu::SgdCoefficients with{.lr = 0.01F, .momentum = 0.9F};
  measure(state, 4, 5, [&](Vectors& v) { gpu::sgd_step(v[0], v[1], v[2], v[3], with); });
}
void move(benchmark::State& state) {
  measure(state, 3, 3, [](Vectors& v) { gpu::move(v[0], v[1], v[2], 8.0F); });
}
void mix(benchmark::State& state) {
  measure(state, 2, 3, [](Vectors& v) { gpu::mix(v[0], v[1], 0.5F); });
}
void shift(benchmark::State& state) {
  measure(state, 4, 4, [](Vectors& v) { gpu::shift(v[0], v[1], v[2], v[3]); });
}
void adamw_step(benchmark::State& state) {
  const gpu::AdamWCoefficients with{.step_size = 1e-3F};
  measure(state, 5, 7, [&](Vectors& v) { gpu::adamw_step(v[0], v[1], v[2], v[3], v[4], with); });
}
void compensate_constant(benchmark::State& state) {
  const gpu::CompensationCoefficients with{.lambda = 0.04F};
  measure(state, 4, 4, [&](Vectors& v) { gpu::compensate(v[0], v[1], v[2], v[3], {}, with); });
}
void compensate_adaptive(benchmark::State& state) {
  const gpu::CompensationCoefficients with{.lambda = 2};
  measure(state, 5, 6, [&](Vectors& v) { gpu::compensate(v[0], v[1], v[2], v[3], v[4], with); });
}
void all_finite(benchmark::State& state) {
  measure(state, 1, 1, [](Vectors& v) { benchmark::DoNotOptimize(gpu::all_finite(v[0])); });
}

/// The second argument is how many sources there are.
void weighted_sum(benchmark::State& state) {
  const auto sources = static_cast<std::size_t>(state.range(1));
  const std::vector<float> weights(sources, 0.5F);
  measure(state, sources + 1, sources + 1, [&](Vectors& v) {
    std::vector<const float*> from;
    for (std::size_t i = 1; i <= sources; ++i) from.push_back(v[i].data());
    gpu::weighted_sum(v[0], from, weights, false);
  });
}
void fold(benchmark::State& state) {
  const auto sources = static_cast<std::size_t>(state.range(1));
  measure(state, sources + 1, sources + 1,
          [](Vectors& v) { actors::fold(v.buffer(0), v.from(1), {}, false, nullptr); });
}

BENCHMARK(fill)->Arg(lenet5)->Arg(large);
BENCHMARK(copy)->Arg(lenet5)->Arg(large);
BENCHMARK(axpy)->Arg(lenet5)->Arg(large);
BENCHMARK(scale)->Arg(lenet5)->Arg(large);
BENCHMARK(sgd_step)->Arg(lenet5)->Arg(large);
BENCHMARK(adamw_step)->Arg(lenet5)->Arg(large);
BENCHMARK(move)->Arg(lenet5)->Arg(large);
BENCHMARK(mix)->Arg(lenet5)->Arg(large);
BENCHMARK(shift)->Arg(lenet5)->Arg(large);
BENCHMARK(compensate_constant)->Arg(lenet5)->Arg(large);
BENCHMARK(compensate_adaptive)->Arg(lenet5)->Arg(large);
BENCHMARK(all_finite)->Arg(lenet5)->Arg(large);
BENCHMARK(weighted_sum)->ArgsProduct({{lenet5, large}, {2, 8, 32}});
BENCHMARK(fold)->ArgsProduct({{lenet5, large}, {2, 8, 32}});

}  // namespace
}  // namespace thalweg
