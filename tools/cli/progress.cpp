#include "tools/cli/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace thalweg::cli {
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
  for (std::size_t place = text.size(); place > 3; place -= 3) text.insert(place - 3, ",");
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

std::string progress_bar(double share, std::size_t width) {
  const std::size_t inside = width - 2;
  const double bounded = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
  const auto full = static_cast<std::size_t>(bounded * static_cast<double>(inside));
  std::string bar(inside, ' ');
  std::fill_n(bar.begin(), full, '=');
  if (full > 0 && full < inside) bar[full - 1] = '>';
  return "[" + bar + "]";
}

std::string progress_line(const ProgressView& view, std::size_t width) {
  constexpr std::size_t bar_min = 8;
  constexpr std::size_t bar_max = 26;
  struct Part {
    std::string text;
    int importance;  ///< the least important goes first
  };
  std::vector<Part> parts = {
      {fmt::format("epoch {:.2f}/{}", view.epoch, human_epochs(view.epochs)), 6},
      {fmt::format("{:.0f} %", std::floor(std::clamp(view.share, 0.0, 1.0) * 100)), 5},
      {fmt::format("{} samples/s", human_short(view.samples_per_s)), 2},
      {fmt::format("loss {:.4f}", view.loss), 4},
  };
  if (view.accuracy) parts.push_back({fmt::format("test {}", human_percent(*view.accuracy)), 1});
  if (view.left_s) parts.push_back({human_seconds(*view.left_s) + " left", 3});

  const auto joined = [&] {
    std::string line;
    for (const Part& part : parts) line += (line.empty() ? "" : "  ") + part.text;
    return line;
  };
  while (parts.size() > 1 && joined().size() > width) {
    parts.erase(std::min_element(parts.begin(), parts.end(), [](const Part& one, const Part& other) {
      return one.importance < other.importance;
    }));
  }
  std::string line = joined();
  if (view.bar && line.size() + 2 + bar_min <= width && parts.size() > 2) {
    // The bar stands behind the percentage and takes what is left.
    const std::size_t room = std::min(width - line.size() - 2, bar_max);
    line.insert(line.find('%') + 1, "  " + progress_bar(view.share, room));
  }
  return line.substr(0, width);
}

}  // namespace thalweg::cli
