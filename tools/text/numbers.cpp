#include "tools/text/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace thalweg::text {
namespace {

/// Three significant digits and the unit of thousands that goes with them.
struct Scaled {
  std::string digits;
  std::size_t thousands = 0;
};

Scaled scale(double number, std::size_t thousands_max) {
  Scaled scaled;
  // 999.5 would be printed as "1000": from there on the next unit is due.
  for (; number >= 999.5 && scaled.thousands < thousands_max; ++scaled.thousands) number /= 1000;
  const int decimals = scaled.thousands == 0 || number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;
  scaled.digits = fmt::format("{:.{}f}", number, decimals);
  return scaled;
}

}  // namespace

std::string human_count(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t place = text.size(); place > 3; place -= 3) text.insert(place - 3, 1, ',');
  return text;
}

std::string human_short(double count) {
  constexpr std::array units = {"", "k", "M", "G", "T"};
  const Scaled scaled = scale(count, units.size() - 1);
  return scaled.digits + units[scaled.thousands];
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array units = {"B", "kB", "MB", "GB", "TB", "PB"};
  const Scaled scaled = scale(static_cast<double>(bytes), units.size() - 1);
  return scaled.digits + " " + units[scaled.thousands];
}

std::string human_seconds(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "?";
  if (seconds < 9.995) return fmt::format("{:.2f} s", seconds);
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(std::llround(std::min(seconds, 1e12)));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string human_percent(double share) { return fmt::format("{:.2f} %", share * 100); }

std::string human_epochs(double epochs) {
  const bool whole = epochs >= 0 && epochs < 1e15 && std::floor(epochs) == epochs;
  return whole ? human_count(static_cast<std::uint64_t>(epochs)) : fmt::format("{:.2f}", epochs);
}

}  // namespace thalweg::text
