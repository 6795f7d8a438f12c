#pragma once

#include "tools/compare/result.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

/// The figures of a comparison: per contestant over its seeds. Only runs that came to their end count; the
/// others are counted as what they are. Pure.
namespace thalweg::compare {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// Figures of equal meaning from several runs.
struct Spread {
  std::size_t count = 0;  ///< 0: nothing is known, the rest is NaN
  double mean = unknown;
  double least = unknown;
  double largest = unknown;

  [[nodiscard]] bool known() const { return count > 0; }
  [[nodiscard]] double range() const { return largest - least; }
};

/// Over the values that are finite.
Spread spread_of(const std::vector<double>& values);

/// What one worker did, on average over the runs.
struct WorkerShare {
  std::string name;
  double busy = 0;     ///< of the wall time, 0..1; the rest it waited
  double samples = 0;  ///< committed
};

struct Figures {
  std::size_t done = 0;  ///< runs that came to their end
  std::string others;    ///< "1 diverged, 1 failed"; empty: all are done
  Spread accuracy, loss, wall_s, samples_per_s, speed_share, busy_share, commits, samples;
  Spread staleness_mean, staleness_p99;
  Spread bytes_per_sample;               ///< up and down, all levels
  std::vector<Spread> up, down;          ///< bytes by level, the root first
  Spread to_target_s;                    ///< of the runs that reached it
  std::vector<WorkerShare> workers;      ///< in worker order
  std::vector<double> staleness_shares;  ///< of the iterations, by age in versions
};

/// The contestants of which a finished run ended below half of the best mean accuracy: it learned nothing.
std::vector<std::size_t> without_learning(const Comparison& comparison);

/// The accuracy that "time to" is about: the one asked for, or 99 % of the lowest mean final accuracy among
/// the contestants, those without learning left out. NaN: nothing was evaluated.
double target_of(const Comparison& comparison);

/// One for each contestant.
std::vector<Figures> figures_of(const Comparison& comparison, double target);

/// When `curve` first reaches `target`: linear between two points, and before the first one along a line from
/// no accuracy at the start. NaN: never.
double time_to(const std::vector<Point>& curve, double target);

/// Bytes up and down over all levels and samples. NaN without samples.
double bytes_per_sample(const Summary& summary);

/// Whether all finished runs committed the same number of samples.
struct SamplesCheck {
  std::uint64_t least = 0, largest = 0;
  bool any = false;  ///< a run is done
  /// 0 when they are equal, 0.01 when the largest is 1 % above the least.
  [[nodiscard]] double excess() const;
  /// A sentence; a warning where they differ by more than 1 %.
  [[nodiscard]] std::string words() const;
};
SamplesCheck check_samples(const Comparison& comparison);

/// Along which axis a curve is drawn.
enum class Along { samples, time };

/// The mean of several curves: point by point where they have their points after equal numbers of samples,
/// else at every place where one of them has a point and all of them are known.
std::vector<Point> mean_curve(const std::vector<const std::vector<Point>*>& curves, Along along);

}  // namespace thalweg::compare
