#pragma once

#include <string>
#include <vector>

/// An axis of a chart: where it begins and ends, and its round marks.
namespace thalweg::compare {

struct Axis {
  double low = 0;
  double high = 1;
  std::vector<double> ticks;  ///< ascending, all within the axis
  bool percent = false;       ///< values are shares, and are written as percentages
  bool logarithmic = false;   ///< equal ratios are equally far apart; `low` is above 0 then

  /// Where `value` is on the axis: 0 at its begin, 1 at its end.
  [[nodiscard]] double share(double value) const;
  /// "20k", "0.5", "90 %".
  [[nodiscard]] std::string text(double value) const;
};

/// An axis with about `count` marks at steps of 1, 2 or 5 times a power of ten, from `low` to `high` or a
/// little further, so that it ends on marks where `widen` is true.
Axis make_axis(double low, double high, int count, bool widen, bool percent);

/// A logarithmic axis with marks at 1, 2 and 5 times powers of ten, or at the powers alone where those are
/// many. Requires: 0 < low < high.
Axis make_log_axis(double low, double high);

/// A number of at most three digits with a unit of thousands, without zeros at its end: "20k", "1.5M".
std::string short_number(double value);

}  // namespace thalweg::compare
