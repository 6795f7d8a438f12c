#include "tools/compare/statistics.hpp"

#include "tools/text/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

namespace thalweg::compare {
namespace {

constexpr double share_of_lowest = 0.99;
constexpr double share_of_best = 0.5;
constexpr double excess_fine = 0.01;

using Runs = std::vector<const Run*>;

Runs done_runs(const Comparison& comparison, std::size_t contestant) {
  Runs runs;
  for (const Run& run : comparison.runs) {
    if (run.contestant == contestant && run.done()) runs.push_back(&run);
  }
  return runs;
}

Spread over(const Runs& runs, const std::function<double(const Run&)>& value) {
  std::vector<double> values;
  for (const Run* run : runs) values.push_back(value(*run));
  return spread_of(values);
}

Spread final_accuracy(const Comparison& comparison, std::size_t contestant) {
  return over(done_runs(comparison, contestant), [](const Run& run) { return run.summary.accuracy; });
}

std::string other_ends(const Comparison& comparison, std::size_t contestant) {
  std::string text;
  for (const char* end : {"stopped", "diverged", "failed"}) {
    const auto count = std::ranges::count_if(comparison.runs, [&](const Run& run) {
      return run.contestant == contestant && run.summary.end == end;
    });
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, end);
  }
  return text;
}

std::vector<Spread> by_level(const Runs& runs, std::vector<std::uint64_t> Summary::*bytes) {
  std::size_t levels = 0;
  for (const Run* run : runs) levels = std::max(levels, (run->summary.*bytes).size());
  std::vector<Spread> spreads;
  for (std::size_t level = 0; level < levels; ++level) {
    spreads.push_back(over(runs, [&](const Run& run) {
      const auto& counts = run.summary.*bytes;
      return level < counts.size() ? static_cast<double>(counts[level]) : 0;
    }));
  }
  return spreads;
}

std::vector<WorkerShare> worker_shares(const Runs& runs) {
  std::vector<WorkerShare> shares;
  for (const Run* run : runs) {
    const auto& workers = run->summary.worker_summaries;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      if (i == shares.size()) shares.push_back({workers[i].name, 0, 0});
      const double wall_s = run->summary.wall_s;
      shares[i].busy += wall_s > 0 ? std::min(workers[i].compute_s / wall_s, 1.0) : 0;
      shares[i].samples += static_cast<double>(workers[i].samples);
    }
  }
  for (WorkerShare& share : shares) {
    share.busy /= static_cast<double>(runs.size());
    share.samples /= static_cast<double>(runs.size());
  }
  return shares;
}

std::vector<double> staleness_shares(const Runs& runs) {
  std::vector<double> shares;
  for (const Run* run : runs) {
    const auto& counts = run->summary.staleness_counts;
    if (shares.size() < counts.size()) shares.resize(counts.size());
    for (std::size_t age = 0; age < counts.size(); ++age) shares[age] += static_cast<double>(counts[age]);
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share = sum > 0 ? share / sum : 0;
  return shares;
}

double place_of(const Point& point, Along along) {
  return along == Along::samples ? point.samples : point.wall_s;
}

/// `from` and `to` mixed: the first at share 0, the second at 1.
Point between(const Point& from, const Point& to, double share) {
  return {std::lerp(from.samples, to.samples, share), std::lerp(from.wall_s, to.wall_s, share),
          std::lerp(from.value, to.value, share)};
}

/// Requires: `place` is within the curve.
Point point_at(const std::vector<Point>& curve, double place, Along along) {
  const auto after = std::ranges::lower_bound(curve, place, std::less<>(),
                                              [&](const Point& point) { return place_of(point, along); });
  if (after == curve.begin()) return curve.front();
  if (after == curve.end()) return curve.back();
  const Point& before = *std::prev(after);
  const double width = place_of(*after, along) - place_of(before, along);
  return between(before, *after, width > 0 ? (place - place_of(before, along)) / width : 1);
}

/// Whether point i of each curve is after the same number of samples, but for a hundredth.
bool side_by_side(const std::vector<const std::vector<Point>*>& curves) {
  return std::ranges::all_of(curves, [&](const auto* curve) {
    if (curve->size() != curves[0]->size()) return false;
    for (std::size_t i = 0; i < curve->size(); ++i) {
      const double samples = (*curves[0])[i].samples;
      if (std::abs((*curve)[i].samples - samples) > samples * 0.01) return false;
    }
    return true;
  });
}

/// Adds `share` of `point` to `sum`.
void add_share(Point& sum, const Point& point, double share) {
  sum.samples += point.samples * share;
  sum.wall_s += point.wall_s * share;
  sum.value += point.value * share;
}

}  // namespace

Spread spread_of(const std::vector<double>& values) {
  Spread spread;
  double sum = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    spread.least = spread.count == 0 ? value : std::min(spread.least, value);
    spread.largest = spread.count == 0 ? value : std::max(spread.largest, value);
    sum += value;
    ++spread.count;
  }
  if (spread.count > 0) spread.mean = sum / static_cast<double>(spread.count);
  return spread;
}

std::vector<std::size_t> without_learning(const Comparison& comparison) {
  double best = 0;
  for (std::size_t i = 0; i < comparison.contestants.size(); ++i) {
    const Spread accuracy = final_accuracy(comparison, i);
    if (accuracy.known()) best = std::max(best, accuracy.mean);
  }
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < comparison.contestants.size(); ++i) {
    if (final_accuracy(comparison, i).least < best * share_of_best) out.push_back(i);
  }
  return out;
}

double target_of(const Comparison& comparison) {
  if (comparison.asked_target) return *comparison.asked_target;
  const auto out = without_learning(comparison);
  std::vector<double> accuracies;
  for (std::size_t i = 0; i < comparison.contestants.size(); ++i) {
    if (std::ranges::find(out, i) == out.end()) accuracies.push_back(final_accuracy(comparison, i).mean);
  }
  return spread_of(accuracies).least * share_of_lowest;
}

std::vector<Figures> figures_of(const Comparison& comparison, double target) {
  std::vector<Figures> all;
  for (std::size_t i = 0; i < comparison.contestants.size(); ++i) {
    const Runs runs = done_runs(comparison, i);
    Figures figures;
    figures.done = runs.size();
    figures.others = other_ends(comparison, i);
    figures.accuracy = over(runs, [](const Run& run) { return run.summary.accuracy; });
    figures.loss = over(runs, [](const Run& run) { return run.summary.loss; });
    figures.wall_s = over(runs, [](const Run& run) { return run.summary.wall_s; });
    figures.samples_per_s = over(runs, [](const Run& run) { return run.summary.samples_per_s; });
    figures.speed_share = over(runs, [](const Run& run) { return run.summary.speed_share; });
    figures.busy_share = over(runs, [](const Run& run) { return run.summary.busy_share; });
    figures.commits = over(runs, [](const Run& run) { return static_cast<double>(run.summary.commits); });
    figures.samples = over(runs, [](const Run& run) { return static_cast<double>(run.summary.samples); });
    figures.staleness_mean = over(runs, [](const Run& run) { return run.summary.staleness_mean; });
    figures.staleness_p99 = over(runs, [](const Run& run) { return run.summary.staleness_p99; });
    figures.bytes_per_sample = over(runs, [](const Run& run) { return bytes_per_sample(run.summary); });
    figures.up = by_level(runs, &Summary::bytes_up);
    figures.down = by_level(runs, &Summary::bytes_down);
    figures.to_target_s = over(runs, [&](const Run& run) { return time_to(run.accuracy, target); });
    figures.workers = worker_shares(runs);
    figures.staleness_shares = staleness_shares(runs);
    all.push_back(std::move(figures));
  }
  return all;
}

double time_to(const std::vector<Point>& curve, double target) {
  for (std::size_t i = 0; i < curve.size(); ++i) {
    if (!(curve[i].value >= target)) continue;
    // Before the first evaluation nothing is known: a line from no accuracy at the start stands for it.
    if (i == 0) return curve[0].value > 0 ? curve[0].wall_s * target / curve[0].value : curve[0].wall_s;
    const double rise = curve[i].value - curve[i - 1].value;
    return between(curve[i - 1], curve[i], (target - curve[i - 1].value) / rise).wall_s;
  }
  return unknown;
}

double bytes_per_sample(const Summary& summary) {
  if (summary.samples == 0) return unknown;
  double bytes = 0;
  for (const auto level : summary.bytes_up) bytes += static_cast<double>(level);
  for (const auto level : summary.bytes_down) bytes += static_cast<double>(level);
  return bytes / static_cast<double>(summary.samples);
}

double SamplesCheck::excess() const {
  return least > 0 ? static_cast<double>(largest) / static_cast<double>(least) - 1 : 0;
}

std::string SamplesCheck::words() const {
  if (!any) return "No run came to its end.";
  if (least == largest) {
    return fmt::format("Every finished run committed {} samples.", text::human_count(least));
  }
  const std::string range =
      fmt::format("from {} to {} samples", text::human_count(least), text::human_count(largest));
  if (excess() <= excess_fine) {
    return fmt::format("Finished runs committed {}: equal within {:.2f} %.", range, excess() * 100);
  }
  return fmt::format(
      "Warning: finished runs committed {}, a difference of {:.1f} %: they did not have equal work.", range,
      excess() * 100);
}

SamplesCheck check_samples(const Comparison& comparison) {
  SamplesCheck check;
  for (const Run& run : comparison.runs) {
    if (!run.done()) continue;
    check.least = check.any ? std::min(check.least, run.summary.samples) : run.summary.samples;
    check.largest = std::max(check.largest, run.summary.samples);
    check.any = true;
  }
  return check;
}

std::vector<Point> mean_curve(const std::vector<const std::vector<Point>*>& curves, Along along) {
  if (curves.empty()) return {};
  const auto share = 1 / static_cast<double>(curves.size());
  std::vector<Point> mean;
  if (side_by_side(curves)) {
    mean.resize(curves[0]->size());
    for (std::size_t i = 0; i < mean.size(); ++i) {
      for (const auto* curve : curves) add_share(mean[i], (*curve)[i], share);
    }
    return mean;
  }
  double first = 0;
  double last = std::numeric_limits<double>::infinity();
  std::vector<double> places;
  for (const auto* curve : curves) {
    if (curve->empty()) return {};
    first = std::max(first, place_of(curve->front(), along));
    last = std::min(last, place_of(curve->back(), along));
    for (const Point& point : *curve) places.push_back(place_of(point, along));
  }
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::erase_if(places, [&](double place) { return place < first || place > last; });

  for (const double place : places) {
    Point sum;
    for (const auto* curve : curves) add_share(sum, point_at(*curve, place, along), share);
    mean.push_back(sum);
  }
  return mean;
}

}  // namespace thalweg::compare
