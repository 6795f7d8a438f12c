#include "tools/compare/figures_html.hpp"

#include "tools/compare/table.hpp"
#include "tools/text/numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace thalweg::compare {
namespace {

constexpr std::size_t colours = 8;
constexpr std::size_t ages_max = 16;  ///< columns of a histogram; the last one holds all that is older

std::string bytes_text(double bytes) {
  return text::human_bytes(static_cast<std::uint64_t>(std::llround(std::max(bytes, 0.0))));
}

std::string figure_html(const std::string& title, const std::string& legend, const std::string& chart,
                        const std::string& caption) {
  return fmt::format("<figure>\n<h3>{}</h3>\n{}{}\n{}</figure>\n", escaped(title), legend, chart,
                     caption.empty() ? "" : fmt::format("<figcaption>{}</figcaption>\n", escaped(caption)));
}

std::string legend_html(const Comparison& comparison) {
  std::string html = "<ul class=\"legend\">";
  for (std::size_t i = 0; i < comparison.contestants.size(); ++i) {
    html += fmt::format("<li><span class=\"key {}\"></span>{}</li>", look_of(comparison, i).classes(),
                        escaped(comparison.contestants[i].label));
  }
  return html + "</ul>\n";
}

/// The curve of a run that is drawn: of losses or of accuracies.
using Curve = std::vector<Point> Run::*;

std::vector<std::pair<double, double>> places(const std::vector<Point>& curve, Along along) {
  std::vector<std::pair<double, double>> points;
  for (const Point& point : curve) {
    points.emplace_back(along == Along::samples ? point.samples : point.wall_s, point.value);
  }
  return points;
}

std::vector<Line> lines_of(const Comparison& comparison, Curve curve, Along along) {
  std::vector<Line> lines;
  for (std::size_t i = 0; i < comparison.contestants.size(); ++i) {
    const std::string& label = comparison.contestants[i].label;
    std::vector<const std::vector<Point>*> done;
    for (const Run& run : comparison.runs) {
      if (run.contestant != i || (run.*curve).empty()) continue;
      lines.push_back({label, look_of(comparison, i), false, places(run.*curve, along)});
      if (run.done()) done.push_back(&(run.*curve));
    }
    if (done.empty()) continue;
    lines.push_back({label, look_of(comparison, i), true, places(mean_curve(done, along), along)});
  }
  return lines;
}

/// Where the axis of losses ends: a run that diverges would press the others flat, so it is what most runs
/// stay below.
double loss_high(const Comparison& comparison) {
  std::vector<double> largest;
  for (const Run& run : comparison.runs) {
    double high = 0;
    for (const Point& point : run.loss) {
      if (std::isfinite(point.value)) high = std::max(high, point.value);
    }
    if (high > 0) largest.push_back(high);
  }
  if (largest.empty()) return 0;
  const auto quarter = largest.begin() + static_cast<std::ptrdiff_t>(largest.size() / 4);
  std::nth_element(largest.begin(), quarter, largest.end());
  return 2 * *quarter;
}

/// Where the axis of accuracies begins: one that learned nothing would press the others flat.
double accuracy_low(const Comparison& comparison) {
  const auto out = without_learning(comparison);
  double low = 1;
  for (const Run& run : comparison.runs) {
    if (std::ranges::find(out, run.contestant) != out.end()) continue;
    for (const Point& point : run.accuracy) low = std::min(low, point.value);
  }
  return low < 1 ? low : 0;
}

/// Whose points are not all on the chart, as a sentence; empty: everybody's are.
std::string outside_words(const LineChart& chart) {
  std::vector<std::string> names;
  for (const Line& line : chart.lines) {
    const bool outside = std::ranges::any_of(line.points, [&](const auto& point) {
      return !std::isfinite(point.second) || point.second < chart.y_low ||
             (chart.y_high > 0 && point.second > chart.y_high);
    });
    if (outside && std::ranges::find(names, line.label) == names.end()) names.push_back(line.label);
  }
  return names.empty() ? "" : fmt::format("Partly or wholly outside the chart: {}.", fmt::join(names, "; "));
}

std::string curve_html(const Comparison& comparison, bool accuracy, Along along) {
  LineChart chart;
  const std::string by = along == Along::samples ? "samples" : "time";
  chart.title = (accuracy ? "Accuracy against " : "Training loss against ") + by;
  chart.x_name = along == Along::samples   ? "samples committed"
                 : is_emulated(comparison) ? "training time, s (emulated)"
                                           : "training time, s";
  chart.y_name = accuracy ? "accuracy" : "loss per sample, logarithmic";
  chart.y_percent = accuracy;
  chart.y_logarithmic = !accuracy;
  chart.y_low = accuracy ? accuracy_low(comparison) : 0;
  chart.y_high = accuracy ? 0 : loss_high(comparison);
  chart.lines = lines_of(comparison, accuracy ? &Run::accuracy : &Run::loss, along);
  return figure_html(chart.title, legend_html(comparison), line_chart(chart), outside_words(chart));
}

std::string level_name(std::size_t level) { return level == 0 ? "root" : fmt::format("level {}", level); }

Bar bytes_bar(const Comparison& comparison, const Figures& figures, std::size_t index) {
  Bar bar{comparison.contestants[index].label, "—", look_of(comparison, index), {}};
  if (!figures.bytes_per_sample.known()) return bar;
  bar.text = bytes_text(figures.bytes_per_sample.mean);
  const double samples = figures.samples.mean;
  for (std::size_t level = 0; level < std::max(figures.up.size(), figures.down.size()); ++level) {
    const double up = level < figures.up.size() ? figures.up[level].mean / samples : 0;
    const double down = level < figures.down.size() ? figures.down[level].mean / samples : 0;
    bar.segments.push_back({up + down, fmt::format("{}, {}: {} up, {} down per sample", bar.label,
                                                   level_name(level), bytes_text(up), bytes_text(down))});
  }
  return bar;
}

std::string age_label(std::size_t age, bool and_older) {
  return fmt::format("{}{}", age, and_older ? "+" : "");
}

/// The shares by age, those too old for a column of their own in the last one.
std::vector<double> folded(const std::vector<double>& shares) {
  std::vector<double> columns(
      shares.begin(), shares.begin() + static_cast<std::ptrdiff_t>(std::min(shares.size(), ages_max)));
  for (std::size_t age = ages_max; age < shares.size(); ++age) columns.back() += shares[age];
  return columns;
}

}  // namespace

Look look_of(const Comparison& comparison, std::size_t index) {
  const Contestant& contestant = comparison.contestants[index];
  return {contestant.colour % colours, contestant.equal || contestant.colour >= colours};
}

std::string curves_html(const Comparison& comparison) {
  std::string html = "<h2>How they learned</h2>\n<div class=\"pair\">\n";
  for (const bool accuracy : {false, true}) {
    for (const Along along : {Along::samples, Along::time}) html += curve_html(comparison, accuracy, along);
  }
  return html +
         "</div>\n<p class=\"notes\">A thin line is one run, a thick one the mean over the seeds.</p>\n";
}

std::string bars_html(const Comparison& comparison, const std::vector<Figures>& figures, double target) {
  BarChart times{"Time to " + target_words(target),
                 is_emulated(comparison) ? "training time, s (emulated), mean" : "training time, s, mean",
                 {}};
  BarChart bytes{"Bytes per sample", "bytes per committed sample, up and down", {}};
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Spread& time = figures[i].to_target_s;
    Bar bar{comparison.contestants[i].label, "not reached", look_of(comparison, i), {}};
    if (time.known()) {
      bar.text = text::human_seconds(time.mean);
      if (time.count < figures[i].done) bar.text += fmt::format(" ({} of {})", time.count, figures[i].done);
      bar.segments.push_back(
          {time.mean, fmt::format("{}: {} to {} in {} of {} runs", bar.label, text::human_seconds(time.least),
                                  text::human_seconds(time.largest), time.count, figures[i].done)});
    }
    times.bars.push_back(std::move(bar));
    bytes.bars.push_back(bytes_bar(comparison, figures[i], i));
  }
  std::string html = "<h2>What it took</h2>\n<div class=\"pair\">\n";
  html += figure_html(times.title, "", bar_chart(times), "");
  html += figure_html(
      bytes.title, "", bar_chart(bytes),
      "The strong part is all links into the root, the fainter ones are those of the levels below.");
  return html + "</div>\n";
}

std::string workers_html(const Comparison& comparison, const std::vector<Figures>& figures) {
  std::string html =
      "<h2>Who computed and who waited</h2>\n<ul class=\"legend\"><li>the colour of the method: "
      "computing</li>"
      "<li><span class=\"key box rest\"></span>waiting for messages, or for a processor</li></ul>\n"
      "<div class=\"many\">\n";
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const std::string& label = comparison.contestants[i].label;
    ShareChart chart{label + ": busy and waiting workers",
                     "worker",
                     "share of the time",
                     look_of(comparison, i),
                     1,
                     true,
                     {}};
    for (const WorkerShare& worker : figures[i].workers) {
      chart.columns.push_back(
          {worker.name, worker.busy,
           fmt::format("{}: computing {:.0f} %, waiting {:.0f} %, {} samples", worker.name, worker.busy * 100,
                       (1 - worker.busy) * 100,
                       text::human_count(static_cast<std::uint64_t>(std::llround(worker.samples))))});
    }
    html += figure_html(label, "", share_chart(chart), "");
  }
  return html + "</div>\n";
}

std::string staleness_html(const Comparison& comparison, const std::vector<Figures>& figures) {
  double high = 0;
  std::size_t ages = 0;
  for (const Figures& each : figures) {
    for (const double share : folded(each.staleness_shares)) high = std::max(high, share);
    ages = std::max(ages, each.staleness_shares.size());
  }
  std::string html = "<h2>How old the gradients were</h2>\n<div class=\"many\">\n";
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const std::string& label = comparison.contestants[i].label;
    ShareChart chart{label + ": staleness",
                     "staleness, versions",
                     "share of the iterations",
                     look_of(comparison, i),
                     high,
                     false,
                     {}};
    auto shares = folded(figures[i].staleness_shares);
    if (!shares.empty()) shares.resize(std::min(ages, ages_max));
    for (std::size_t age = 0; age < shares.size(); ++age) {
      const std::string name = age_label(age, age + 1 == ages_max && ages > ages_max);
      chart.columns.push_back(
          {name, shares[age],
           fmt::format("{} versions old: {:.2f} % of the iterations", name, shares[age] * 100)});
    }
    html += figure_html(label, "", share_chart(chart), "");
  }
  return html + "</div>\n";
}

}  // namespace thalweg::compare
