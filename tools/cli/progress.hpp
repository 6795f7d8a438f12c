#pragma once

#include "tools/text/numbers.hpp"

#include <cstddef>
#include <optional>
#include <string>

/// The line that shows how far a run is. Pure, and ASCII only, as the numbers in it.
namespace thalweg::cli {

using text::human_bytes;
using text::human_count;
using text::human_epochs;
using text::human_percent;
using text::human_seconds;
using text::human_short;

/// "[=====>    ]", `width` columns with the brackets. Requires: width >= 3.
std::string progress_bar(double share, std::size_t width);

/// Where training stands.
struct ProgressView {
  double epoch = 0;
  double epochs = 0;  ///< of the whole run
  double share = 0;   ///< of the run's samples that are committed, 0..1
  double samples_per_s = 0;
  double loss = 0;
  std::optional<double> accuracy;  ///< of the last evaluation
  std::optional<double> left_s;    ///< expected time to the end
  bool bar = true;                 ///< whether to draw one
};

/// One line of at most `width` columns. What matters least goes first when it does not fit: the bar, then the
/// accuracy, the time left, the rate, the loss.
std::string progress_line(const ProgressView& view, std::size_t width);

}  // namespace thalweg::cli
