#include "tools/bench/benches.hpp"

namespace thalweg::bench {

std::vector<Bench> all_benches() {
  return {{"rounds", "training rounds against the same compute loops joined by a barrier", bench_rounds},
          {"turnaround", "from the last gradient to the last worker's new parameters", bench_turnaround},
          {"sum", "sums of many vectors against the bandwidth of memory", bench_sum},
          {"messages", "a hop between our actors against one between bare ones", bench_messages},
          {"net", "a payload from node to node against a bare connection", bench_net}};
}

}  // namespace thalweg::bench
