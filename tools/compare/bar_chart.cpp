#include "tools/compare/axis.hpp"
#include "tools/compare/chart.hpp"

#include <fmt/format.h>

#include <algorithm>

/// Bars of amounts and columns of shares.
namespace thalweg::compare {
namespace {

/// Strength of a bar's parts, one after the other.
constexpr double strengths[] = {1, 0.62, 0.4, 0.25, 0.16};

double strength_of(std::size_t part) { return strengths[std::min(part, std::size(strengths) - 1)]; }

std::string tip_attribute(const std::string& tip) {
  return tip.empty() ? "" : fmt::format(" data-tip=\"{}\"", escaped(tip));
}

}  // namespace

std::string Look::classes() const { return fmt::format("c{}{}", colour % 8, dashed ? " dashed" : ""); }

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += letter;
    }
  }
  return safe;
}

std::string bar_chart(const BarChart& chart) {
  constexpr double width = 600, left = 8, right = 470, pitch = 60, first = 10;
  double high = 0;
  for (const Bar& bar : chart.bars) {
    double sum = 0;
    for (const Segment& segment : bar.segments) sum += segment.value;
    high = std::max(high, sum);
  }
  if (!(high > 0)) return "<p class=\"empty\">Nothing was recorded.</p>";
  const double bottom = first + pitch * static_cast<double>(chart.bars.size());
  std::string svg = fmt::format("<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">",
                                width, bottom + 30, escaped(chart.title));
  for (std::size_t i = 0; i < chart.bars.size(); ++i) {
    const Bar& bar = chart.bars[i];
    const double y = first + pitch * static_cast<double>(i);
    svg += fmt::format("<text class=\"label\" x=\"{}\" y=\"{:.1f}\">{}</text>", left, y + 14,
                       escaped(bar.label));
    double x = left;
    for (std::size_t part = 0; part < bar.segments.size(); ++part) {
      const double wide = bar.segments[part].value / high * (right - left);
      svg += fmt::format(
          "<rect class=\"fill {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"20\" "
          "opacity=\"{}\"{}/>",
          bar.look.classes(), x, y + 24, std::max(wide - 1, 0.5), strength_of(part),
          tip_attribute(bar.segments[part].tip));
      x += wide;
    }
    svg += fmt::format("<path class=\"axis\" d=\"M{} {:.1f}v26\"/>", left, y + 21);
    svg += fmt::format("<text class=\"value\" x=\"{:.1f}\" y=\"{:.1f}\" dy=\".35em\">{}</text>", x + 8,
                       y + 34, escaped(bar.text));
  }
  svg += fmt::format("<text class=\"name\" x=\"{}\" y=\"{:.1f}\">{}</text></svg>", left, bottom + 22,
                     escaped(chart.x_name));
  return svg;
}

std::string share_chart(const ShareChart& chart) {
  constexpr double width = 300, height = 220, left = 54, right = 294, top = 34, bottom = 160;
  if (chart.columns.empty()) return "<p class=\"empty\">Nothing was recorded.</p>";
  const Axis axis = make_axis(0, chart.high, 4, true, true);
  const auto at_y = [&](double share) { return bottom - axis.share(share) * (bottom - top); };
  std::string svg = fmt::format("<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">",
                                width, height, escaped(chart.title));
  for (const double tick : axis.ticks) {
    svg += fmt::format("<path class=\"grid\" d=\"M{} {:.1f}H{}\"/>", left, at_y(tick), right);
    svg += fmt::format("<text class=\"tick end\" x=\"{}\" y=\"{:.1f}\" dy=\".35em\">{}</text>", left - 8,
                       at_y(tick), axis.text(tick));
  }
  const auto count = chart.columns.size();
  const double pitch = (right - left) / static_cast<double>(count);
  const double wide = std::min(pitch * 0.78, 44.0);
  const std::size_t every = (count + 7) / 8;  // more labels than that would touch
  for (std::size_t i = 0; i < count; ++i) {
    const ColumnOfShare& column = chart.columns[i];
    const double middle = left + pitch * (static_cast<double>(i) + 0.5);
    const double y = at_y(std::clamp(column.share, 0.0, axis.high));
    svg += fmt::format("<g{}>", tip_attribute(column.tip));
    if (chart.fill_rest) {
      svg +=
          fmt::format("<rect class=\"rest\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
                      middle - wide / 2, at_y(1), wide, std::max(y - at_y(1), 0.0));
    }
    svg += fmt::format(
        "<rect class=\"fill {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/></g>",
        chart.look.classes(), middle - wide / 2, y, wide, bottom - y);
    if (i % every == 0) {
      svg += fmt::format("<text class=\"tick middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", middle,
                         bottom + 20, escaped(column.label));
    }
  }
  svg += fmt::format("<path class=\"axis\" d=\"M{} {}H{}\"/>", left, bottom, right);
  svg += fmt::format("<text class=\"name\" x=\"4\" y=\"16\">{}</text>", escaped(chart.y_name));
  svg += fmt::format("<text class=\"name end\" x=\"{}\" y=\"{}\">{}</text></svg>", right, height - 12,
                     escaped(chart.x_name));
  return svg;
}

}  // namespace thalweg::compare
