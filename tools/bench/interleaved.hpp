#pragma once

#include "runtime/time/clock.hpp"

#include <thalweg/result.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

/// Times on a shared machine mean little; ratios of two times taken right after each other do. Contestants
/// take turns, A B A B ..., so that whatever else the machine does hurts them alike, and a result is the
/// median of the ratios of neighbours.
namespace thalweg::bench {

/// One of several ways to do the same work.
struct Contestant {
  std::string name;
  /// Does the work once and returns what a unit of it took, in seconds, as it measured it itself.
  std::function<Result<double>()> run;
};

/// A contestant that is nothing but its work: `units` of them are one call.
Contestant timed(std::string name, const Clock& clock, double units, std::function<void()> work);

/// Median, least and largest of some measurements.
struct Spread {
  double median = 0;
  double least = 0;
  double largest = 0;
};

/// Requires: at least one value. The median of an even number is the mean of the two in the middle.
Spread spread_of(std::vector<double> values);

class Interleaved {
 public:
  /// Lets the contestants take `turns` turns each, after one that does not count.
  /// Fails: as the first contestant that does.
  static Result<Interleaved> measure(const std::vector<Contestant>& contestants, std::size_t turns);

  /// What a unit took contestant `index`, in seconds.
  [[nodiscard]] Spread cost(std::size_t index) const;

  /// Time of contestant `of` over time of contestant `to`, turn by turn.
  [[nodiscard]] Spread ratio(std::size_t of, std::size_t to) const;

 private:
  std::vector<std::vector<double>> costs_;  ///< by contestant, then by turn
};

}  // namespace thalweg::bench
