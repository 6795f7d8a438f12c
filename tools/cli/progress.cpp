#include "tools/cli/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace thalweg::cli {
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
