#include "tools/bench/turns.hpp"

#include "tools/bench/interleaved.hpp"

#include <algorithm>
#include <utility>

namespace thalweg::bench {

double Turns::median_s(std::size_t rounds) const {
  std::vector<double> took;
  for (std::size_t round = rounds / 10; round < rounds; ++round) {
    std::chrono::nanoseconds last_ready{};
    std::chrono::nanoseconds last_adopted{};
    for (std::size_t worker = 0; worker < ready.size(); ++worker) {
      last_ready = std::max(last_ready, ready[worker].at(round));
      last_adopted = std::max(last_adopted, adopted[worker].at(round));
    }
    took.push_back(seconds(last_adopted - last_ready));
  }
  return spread_of(std::move(took)).median;
}

}  // namespace thalweg::bench
