#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Numbers as people read them, and the line that shows how far a run is. Pure: text in, text out; ASCII
/// only, so that a character is a column on every terminal.
namespace thalweg::cli {

std::string human_count(std::uint64_t count);  ///< "1,234,567"
std::string human_short(double count);         ///< "940", "12.3k", "4.56M"
std::string human_bytes(std::uint64_t bytes);  ///< "940 B", "12.3 kB", "4.56 MB": powers of 1000
std::string human_seconds(double seconds);     ///< "0.42 s", "12.3 s"; from a minute on "2:05", "1:02:05"
std::string human_percent(double share);       ///< 0.9124 is "91.24 %"
std::string human_epochs(double epochs);       ///< "3", "0.25", "100,000"

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
