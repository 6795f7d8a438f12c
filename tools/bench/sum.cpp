#include "actors/fold.hpp"
#include "tools/bench/benches.hpp"
#include "tools/bench/peak.hpp"

#include <fmt/format.h>

#include <algorithm>

/// How fast an aggregator adds vectors up: one pass that reads every source and writes the sum moves
/// (sources + 1) x 4 bytes per element, and memory decides how fast that can be. The reference moves as many
/// bytes as the triad, over arrays of the same total size.
namespace thalweg::bench {
namespace {

struct Shape {
  std::string name;
  std::size_t floats;
};

struct Sources {
  std::shared_ptr<gpu::Buffer> sum;
  std::vector<Payload> payloads;

  Sources(std::size_t count, std::size_t floats) {
    const auto pool = gpu::BufferPool::make_host(floats, count + 1);
    sum = pool->take();
    for (std::size_t i = 0; i < count; ++i) {
      auto buffer = pool->take();
      std::ranges::fill(buffer->values(), static_cast<float>(i));
      payloads.push_back(std::move(buffer));
    }
  }
};

/// `pool` null: on one thread.
Status compare_sum(const Settings& settings, const Shape& shape, std::size_t count, TaskPool* pool) {
  Sources sources(count, shape.floats);
  Triad triad((count + 1) * sizeof(float) * shape.floats);
  // Small sums are over in microseconds: as many at a time as take some tenths of a millisecond, less than
  // what the system gives a thread before it lets others run.
  const std::size_t bytes_a_turn = settings.small ? 1 : std::size_t{1} << 24;
  const std::size_t repeats =
      std::max<std::size_t>(1, bytes_a_turn / static_cast<std::size_t>(triad.bytes()));
  constexpr std::size_t grain = actors::fold_inline_bytes_max / sizeof(float) / 4;
  const auto all = [&](const auto& once) {
    return [&once, repeats] {
      for (std::size_t i = 0; i < repeats; ++i) once();
    };
  };
  const auto fold_once = [&] { actors::fold(*sources.sum, sources.payloads, {}, false, pool); };
  const auto triad_once = [&] {
    if (pool == nullptr) return triad.run();
    pool->parallel_for(triad.size(), grain,
                       [&](std::size_t begin, std::size_t end) { triad.run(begin, end); });
  };
  const auto measured =
      Interleaved::measure({timed("fold", settings.clock, static_cast<double>(repeats), all(fold_once)),
                            timed("triad", settings.clock, static_cast<double>(repeats), all(triad_once))},
                           settings.pairs);
  if (!measured) return measured.error();

  Comparison comparison = compare(*measured, 0, 1, Sense::speed);
  comparison.bench = "sum";
  comparison.what = fmt::format("{} vectors of {} floats ({}){}", count, shape.floats, shape.name,
                                pool == nullptr ? "" : fmt::format(", {} threads", pool->threads()));
  comparison.unit = "sum";
  comparison.subject = "fold";
  comparison.reference = "triad";
  const double bytes_per_s = triad.bytes() / measured->cost(1).median;
  comparison.floor = {measured->cost(1).median,
                      fmt::format("{:.3g} MB at {:.1f} GB/s, what the triad reaches", triad.bytes() / 1e6,
                                  bytes_per_s / 1e9)};
  comparison.target = 0.90;
  settings.on_comparison(comparison);
  return {};
}

}  // namespace

Status bench_sum(const Settings& settings) {
  const std::size_t large = std::size_t{1} << (settings.small ? 12 : 22);
  for (const Shape& shape : {Shape{"lenet5", 61'712}, Shape{"large", large}}) {
    for (const std::size_t count : {std::size_t{2}, std::size_t{8}, std::size_t{32}}) {
      if (Status done = compare_sum(settings, shape, count, nullptr); !done) return done;
    }
  }
  TaskPool pool;
  return compare_sum(settings, {"large", large}, 8, &pool);
}

}  // namespace thalweg::bench
