#include "tools/bench/interleaved.hpp"

#include "runtime/check.hpp"

#include <algorithm>

namespace thalweg::bench {

Contestant timed(std::string name, const Clock& clock, double units, std::function<void()> work) {
  return {std::move(name), [&clock, units, work = std::move(work)]() -> Result<double> {
            const auto began = clock.now();
            work();
            return seconds(clock.now() - began) / units;
          }};
}

Spread spread_of(std::vector<double> values) {
  THALWEG_CHECK(!values.empty(), "a spread is of something");
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

Result<Interleaved> Interleaved::measure(const std::vector<Contestant>& contestants, std::size_t turns) {
  Interleaved measured;
  measured.costs_.resize(contestants.size());
  for (std::size_t turn = 0; turn <= turns; ++turn) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      const Result<double> cost = contestants[i].run();
      if (!cost) return cost.error();
      if (turn > 0) measured.costs_[i].push_back(*cost);
    }
  }
  return measured;
}

Spread Interleaved::cost(std::size_t index) const { return spread_of(costs_.at(index)); }

Spread Interleaved::ratio(std::size_t of, std::size_t to) const {
  std::vector<double> ratios;
  const auto& above = costs_.at(of);
  const auto& below = costs_.at(to);
  for (std::size_t turn = 0; turn < above.size(); ++turn) ratios.push_back(above[turn] / below[turn]);
  return spread_of(std::move(ratios));
}

}  // namespace thalweg::bench
