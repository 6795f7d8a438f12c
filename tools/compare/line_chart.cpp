#include "tools/compare/axis.hpp"
#include "tools/compare/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

/// Curves: a thin line for each run, a thick one for each mean.
namespace thalweg::compare {
namespace {

constexpr double width = 600, height = 350;
constexpr double left = 74, top = 36, right = 584, bottom = 290;
constexpr std::size_t points_max = 240;  ///< of a line; more cannot be told apart at this width

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  [[nodiscard]] bool known() const { return low <= high; }
};

std::vector<std::pair<double, double>> thinned(const std::vector<std::pair<double, double>>& points) {
  if (points.size() <= points_max) return points;
  std::vector<std::pair<double, double>> kept;
  for (std::size_t i = 0; i < points_max; ++i)
    kept.push_back(points[i * (points.size() - 1) / (points_max - 1)]);
  return kept;
}

struct Frame {
  Axis x, y;
  [[nodiscard]] double at_x(double value) const { return left + x.share(value) * (right - left); }
  /// Far outside the frame lines are cut off, so that no viewer meets numbers it cannot draw.
  [[nodiscard]] double at_y(double value) const {
    return std::clamp(bottom - y.share(value) * (bottom - top), -10 * height, 10 * height);
  }
};

std::string frame_svg(const LineChart& chart, const Frame& frame) {
  std::string svg;
  for (const double tick : frame.y.ticks) {
    const double y = frame.at_y(tick);
    svg += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", left, y, right);
    svg += fmt::format("<text class=\"tick end\" x=\"{:.1f}\" y=\"{:.1f}\" dy=\".35em\">{}</text>", left - 8,
                       y, frame.y.text(tick));
  }
  for (const double tick : frame.x.ticks) {
    const double x = frame.at_x(tick);
    svg += fmt::format("<path class=\"mark\" d=\"M{:.1f} {:.1f}v5\"/>", x, bottom);
    svg += fmt::format("<text class=\"tick middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x, bottom + 22,
                       frame.x.text(tick));
  }
  svg += fmt::format("<path class=\"axis\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", left, bottom, right);
  svg += fmt::format("<text class=\"name\" x=\"4\" y=\"18\">{}</text>", escaped(chart.y_name));
  svg += fmt::format("<text class=\"name end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", right, height - 10,
                     escaped(chart.x_name));
  return svg;
}

std::string line_svg(const Line& line, const Frame& frame) {
  const auto points = thinned(line.points);
  const std::string classes = line.look.classes() + (line.thick ? " mean" : " thin");
  std::string path;
  for (const auto& [x, y] : points) {
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", frame.at_x(x), frame.at_y(y));
  }
  if (path.empty()) return "";
  std::string svg = fmt::format("<path class=\"line {}\" d=\"{}\"/>", classes, path);
  // A few points are shown as such: the line between them is only a guide.
  if (line.thick && points.size() <= 12) {
    for (const auto& [x, y] : points) {
      svg += fmt::format("<circle class=\"dot {}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>",
                         line.look.classes(), frame.at_x(x), frame.at_y(y));
    }
  }
  return svg;
}

/// [["label", "c0", [[x, y], ...]], ...] of the means, for the script.
std::string series_json(const LineChart& chart) {
  std::string json;
  for (const Line& line : chart.lines) {
    if (!line.thick) continue;
    std::string points;
    for (const auto& [x, y] : thinned(line.points)) {
      if (std::isfinite(x) && std::isfinite(y)) {
        points += fmt::format("{}[{:.6g},{:.6g}]", points.empty() ? "" : ",", x, y);
      }
    }
    std::string label;
    for (const char letter : line.label) {
      if (letter == '"' || letter == '\\') label += '\\';
      label += letter;
    }
    json +=
        fmt::format("{}[\"{}\",\"{}\",[{}]]", json.empty() ? "" : ",", label, line.look.classes(), points);
  }
  return "[" + json + "]";
}

/// The axes that hold all points; both unknown when there are none.
std::optional<Frame> frame_of(const LineChart& chart) {
  Range x, y;
  for (const Line& line : chart.lines) {
    for (const auto& point : line.points) {
      x.add(point.first);
      if (!chart.y_logarithmic || point.second > 0) y.add(point.second);
    }
  }
  if (!x.known() || !y.known()) return std::nullopt;
  if (chart.y_high > 0) y.high = std::max(std::min(y.high, chart.y_high), y.low);
  y.low = std::min(std::max(y.low, chart.y_low), y.high);
  Frame frame{make_axis(std::min(0.0, x.low), x.high, 5, false, false), {}};
  if (chart.y_logarithmic) {
    // A loss that reaches nearly nothing would press the rest together.
    constexpr double ratio_max = 1e4, room = 1.08;
    frame.y = make_log_axis(std::max(y.low, y.high / ratio_max) / room, y.high * room);
  } else {
    frame.y = make_axis(y.low, y.high, 5, true, chart.y_percent);
    if (chart.y_percent) frame.y.high = std::min(frame.y.high, std::max(1.0, y.high));
  }
  return frame;
}

}  // namespace

std::string line_chart(const LineChart& chart) {
  const auto frame = frame_of(chart);
  if (!frame) return "<p class=\"empty\">Nothing was recorded.</p>";
  std::string svg = fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\" data-series=\"{}\" "
      "data-box=\"[{},{},{},{},{:.9g},{:.9g},{}]\" data-x=\"{}\" data-percent=\"{}\">",
      width, height, escaped(chart.title), escaped(series_json(chart)), left, top, right, bottom,
      frame->x.low, frame->x.high, width, escaped(chart.x_name), chart.y_percent ? 1 : 0);
  svg += frame_svg(chart, *frame);
  svg +=
      fmt::format("<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" viewBox=\"{} {} {} {}\">", left, top - 6,
                  right - left + 6, bottom - top + 6, left, top - 6, right - left + 6, bottom - top + 6);
  for (const bool thick : {false, true}) {
    for (const Line& line : chart.lines) {
      if (line.thick == thick) svg += line_svg(line, *frame);
    }
  }
  svg += "</svg>";
  svg += fmt::format("<path class=\"cursor\" d=\"M0 {}V{}\"/></svg>", top, bottom);
  return svg;
}

}  // namespace thalweg::compare
