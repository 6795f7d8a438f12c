#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

/// Charts as SVG inside a page: pure functions from numbers to text. Colours are classes ("c0" to "c7") that
/// the page's style defines for light and dark; what the pointer shows is in `data-` attributes that the
/// page's script reads.
namespace thalweg::compare {

/// How a contestant looks in every chart.
struct Look {
  std::size_t colour = 0;
  bool dashed = false;  ///< drawn with dashes, or hatched

  [[nodiscard]] std::string classes() const;  ///< "c2 dashed"
};

struct Line {
  std::string label;
  Look look;
  bool thick = false;  ///< a mean; the pointer shows its values
  std::vector<std::pair<double, double>> points;
};

struct LineChart {
  std::string title;
  std::string x_name, y_name;  ///< with units
  bool y_percent = false;
  bool y_logarithmic = false;
  double y_low = 0;   ///< where the axis begins at least
  double y_high = 0;  ///< where the axis ends at most; 0: at the largest value
  std::vector<Line> lines;
};

/// A part of a bar.
struct Segment {
  double value = 0;
  std::string tip;  ///< what the pointer shows
};

struct Bar {
  std::string label;
  std::string text;  ///< the value in words, at the end of the bar
  Look look;
  std::vector<Segment> segments;  ///< drawn fainter one after the other
};

/// Horizontal bars that begin at 0.
struct BarChart {
  std::string title;
  std::string x_name;
  std::vector<Bar> bars;
};

struct ColumnOfShare {
  std::string label;
  double share = 0;  ///< 0..1
  std::string tip;
};

/// Upright columns of shares.
struct ShareChart {
  std::string title;
  std::string x_name, y_name;
  Look look;
  double high = 1;         ///< where the axis ends
  bool fill_rest = false;  ///< what is above a column is painted too: the rest to 1
  std::vector<ColumnOfShare> columns;
};

std::string line_chart(const LineChart& chart);
std::string bar_chart(const BarChart& chart);
std::string share_chart(const ShareChart& chart);

/// `text` as it may stand in HTML and in quoted attributes.
std::string escaped(const std::string& text);

}  // namespace thalweg::compare
