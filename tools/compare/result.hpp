#pragma once

#include <thalweg/config.hpp>
#include <thalweg/run_event.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// What `thalweg compare` has found out so far: who was compared, on what job, and the runs. Filled by
/// `tools/cli/compare.cpp` run by run; the statistics, the table, the files and the page read it.
namespace thalweg::compare {

/// A key of the job file and its value, as they were typed.
struct Setting {
  std::string key;
  std::string value;
  friend bool operator==(const Setting&, const Setting&) = default;
};

/// A method with the settings it runs with.
struct Contestant {
  std::string label;         ///< "inhad(2)" or "inhad(2), equal settings"
  std::string method;        ///< as in `sync.method`
  std::vector<Setting> own;  ///< settings that only this one has
  std::size_t colour = 0;    ///< of its method: one with equal settings shares it
  bool equal = false;        ///< stands beside the same method with settings of its own
};

/// A point of a curve.
struct Point {
  double samples = 0;  ///< committed by then
  double wall_s = 0;   ///< since the run began
  double value = 0;
};

/// One run of one contestant.
struct Run {
  std::size_t contestant = 0;  ///< index into `Comparison::contestants`
  std::uint64_t seed = 0;
  std::vector<Point> loss;      ///< mean training loss per sample since the point before
  std::vector<Point> accuracy;  ///< on the evaluated samples, 0..1
  Started started;              ///< empty when it did not begin
  Summary summary;              ///< `end` and `failure` are set in every case

  [[nodiscard]] bool done() const { return summary.end == "done"; }
};

struct Comparison {
  Config job;  ///< what all contestants have in common
  std::vector<Contestant> contestants;
  std::vector<std::uint64_t> seeds;
  std::vector<Run> runs;               ///< in the order they ran
  std::optional<double> asked_target;  ///< the accuracy of "time to", when one was typed
  std::string version;                 ///< of the program
  std::filesystem::path folder;        ///< where runs and files are

  [[nodiscard]] std::size_t planned_runs() const { return contestants.size() * seeds.size(); }
};

/// The job in a sentence: network, data, tree, batches, optimizer, length and seeds.
std::string job_words(const Comparison& comparison);

/// "train.lr=0.1, train.momentum=0"; empty when there are none.
std::string settings_text(const std::vector<Setting>& settings);

}  // namespace thalweg::compare
