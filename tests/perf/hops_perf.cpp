#include "tools/bench/hops.hpp"

#include <benchmark/benchmark.h>

/// A message from mailbox to mailbox: between bare actors, between ours, and with a sink that hears of it.
namespace thalweg {
namespace {

constexpr std::int64_t hops = 1000;

void hop(benchmark::State& state, bench::HopKind kind) {
  const SteadyClock clock;
  bench::Hops game(kind, clock);
  for (auto _ : state) game.run(hops);
  state.SetItemsProcessed(state.iterations() * hops);
}

// The actors' thread works, not the one that is measured.
BENCHMARK_CAPTURE(hop, bare, bench::HopKind::bare)->UseRealTime();
BENCHMARK_CAPTURE(hop, observed, bench::HopKind::observed)->UseRealTime();
BENCHMARK_CAPTURE(hop, recorded, bench::HopKind::recorded)->UseRealTime();

}  // namespace
}  // namespace thalweg
