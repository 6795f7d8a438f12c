#include "tools/bench/benches.hpp"
#include "tools/bench/hops.hpp"

#include <fmt/format.h>

/// What a hop between two actors costs in all, and what stamps and the sink add to it.
namespace thalweg::bench {

Status bench_messages(const Settings& settings) {
  const std::size_t hops = settings.small ? 100 : 100'000;
  Hops bare(HopKind::bare, settings.clock);
  Hops observed(HopKind::observed, settings.clock);
  Hops recorded(HopKind::recorded, settings.clock);
  const auto contestant = [&](const char* name, Hops& game) {
    return timed(name, settings.clock, static_cast<double>(hops), [&game, hops] { game.run(hops); });
  };
  const auto measured = Interleaved::measure(
      {contestant("bare", bare), contestant("observed", observed), contestant("recorded", recorded)},
      settings.pairs);
  if (!measured) return measured.error();

  for (const std::size_t subject : {std::size_t{1}, std::size_t{2}}) {
    Comparison comparison = compare(*measured, subject, 0, Sense::time);
    comparison.bench = "messages";
    comparison.what = fmt::format("a message to and fro between two actors on one thread, {}",
                                  subject == 1 ? "stamped" : "stamped and told to a sink");
    comparison.unit = "hop";
    comparison.subject = subject == 1 ? "our roles" : "with a sink";
    comparison.reference = "bare actors";
    comparison.floor = {measured->cost(0).least, "the fastest turn of the bare actors"};
    settings.on_comparison(comparison);
  }
  return {};
}

}  // namespace thalweg::bench
