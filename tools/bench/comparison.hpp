#pragma once

#include "tools/bench/interleaved.hpp"

#include <optional>
#include <string>
#include <vector>

/// What a bench finds out: how something of ours compares with a reference measured beside it, and both with
/// the least that it could take.
namespace thalweg::bench {

/// The least a unit of work can take: an amount over a rate that was measured in the same run.
struct Floor {
  double unit_s = 0;
  std::string why;  ///< "580 MFLOP at 190 GFLOP/s, two threads"
};

/// Which way round a ratio is, so that its target reads naturally.
enum class Sense {
  speed,  ///< reference's time over ours: more is better, 1 is as fast
  time,   ///< our time over the reference's: less is better
};

struct Comparison {
  std::string bench;      ///< "rounds"
  std::string what;       ///< "4 workers, lenet5, batch 64"
  std::string unit;       ///< what the times are of: "round"
  std::string subject;    ///< "actors"
  std::string reference;  ///< "barrier loops"
  Floor floor;
  Spread subject_s, reference_s;
  Sense sense = Sense::speed;
  Spread ratio;
  std::optional<double> target;  ///< for the ratio: at least (speed) or at most (time); empty: none is set

  [[nodiscard]] bool met() const;  ///< true without a target
};

/// Of contestants `subject` and `reference` of `measured`. The names of both and all else are filled in by
/// the caller.
Comparison compare(const Interleaved& measured, std::size_t subject, std::size_t reference, Sense sense);

/// The lines that people read: floor first, then how far both are from it, then the ratio.
std::string comparison_text(const Comparison& comparison);

/// A line for each: what was compared, the ratio and whether its target is met.
std::string comparison_table(const std::vector<Comparison>& comparisons);

/// What a run of `thalweg bench` keeps.
struct Report {
  std::string version;   ///< of the program
  std::string hardware;  ///< the processor as it calls itself
  std::string library;   ///< what computes
  std::size_t cores = 0;
  std::size_t pairs = 0;
  bool small = false;  ///< settings too small to measure anything
  std::vector<Comparison> comparisons;
};

/// {"schema", "version", "machine": {...}, "pairs", "small", "comparisons": [{"bench", "what", "unit",
/// "floor": {"s", "why"}, "subject": {"name", "s"}, "reference": {"name", "s"},
/// "ratio": {"of": "speed" | "time", "median", "least", "largest"}, "target" | null, "met"}]}, on one line.
std::string report_json(const Report& report);

}  // namespace thalweg::bench
