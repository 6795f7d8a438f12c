#include "tools/compare/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace thalweg::compare {
namespace {

/// The least step of 1, 2 or 5 times a power of ten that is not below `least`.
double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

std::string short_number(double value) {
  constexpr std::array<std::pair<double, const char*>, 3> units = {{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  if (std::abs(value) < 1e12) {
    for (const auto& [unit, letter] : units) {
      if (std::abs(value) >= unit) return fmt::format("{:.3g}{}", value / unit, letter);
    }
  }
  return fmt::format("{:.3g}", std::abs(value) < 1e-12 ? 0 : value);
}

double Axis::share(double value) const {
  if (!logarithmic) return (value - low) / (high - low);
  return std::log(std::max(value, low) / low) / std::log(high / low);
}

std::string Axis::text(double value) const {
  return percent ? fmt::format("{:.4g} %", value * 100) : short_number(value);
}

Axis make_axis(double low, double high, int count, bool widen, bool percent) {
  if (!(high > low)) {
    const double room = low == 0 ? 1 : std::abs(low) * 0.1;
    high = low + room;
    if (percent) low -= room;
  }
  const double step = round_step((high - low) / count);
  Axis axis{low, high, {}, percent, false};
  if (widen) {
    axis.low = std::floor(low / step + 1e-9) * step;
    axis.high = std::ceil(high / step - 1e-9) * step;
  }
  const auto first = static_cast<long long>(std::ceil(axis.low / step - 1e-9));
  const auto last = static_cast<long long>(std::floor(axis.high / step + 1e-9));
  for (auto i = first; i <= last; ++i) axis.ticks.push_back(static_cast<double>(i) * step);
  return axis;
}

Axis make_log_axis(double low, double high) {
  constexpr double decades_with_parts = 2.5;
  Axis axis{low, high, {}, false, true};
  const bool parts = std::log10(high / low) <= decades_with_parts;
  for (double power = std::pow(10.0, std::floor(std::log10(low))); power <= high; power *= 10) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * power;
      if (tick < low * (1 - 1e-9) || tick > high * (1 + 1e-9) || (factor > 1 && !parts)) continue;
      axis.ticks.push_back(tick);
    }
  }
  return axis;
}

}  // namespace thalweg::compare
