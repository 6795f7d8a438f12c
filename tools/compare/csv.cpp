#include "tools/compare/csv.hpp"

#include "tools/compare/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace thalweg::compare {
namespace {

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string text = "\"";
  for (const char letter : field) {
    if (letter == '"') text += '"';
    text += letter;
  }
  return text + "\"";
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : ""; }

std::string joined(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) line += (i == 0 ? "" : ",") + quoted(fields[i]);
  return line + "\n";
}

std::size_t levels_of(const Comparison& comparison) {
  std::size_t levels = 0;
  for (const Run& run : comparison.runs) {
    levels = std::max({levels, run.summary.bytes_up.size(), run.summary.bytes_down.size()});
  }
  return levels;
}

std::vector<std::string> head(std::size_t levels) {
  std::vector<std::string> names = {
      "label",   "method",           "own_settings",   "seed",          "end",           "accuracy",
      "loss",    "train_loss",       "wall_s",         "samples_per_s", "speed_share",   "busy_share",
      "samples", "commits",          "staleness_mean", "staleness_p99", "staleness_max", "time_to_s",
      "target",  "bytes_per_sample", "emulated",       "folder",        "failure"};
  for (std::size_t level = 0; level < levels; ++level) {
    names.push_back(fmt::format("bytes_up_{}", level));
    names.push_back(fmt::format("bytes_down_{}", level));
  }
  return names;
}

std::vector<std::string> row(const Comparison& comparison, const Run& run, double target,
                             std::size_t levels) {
  const Contestant& contestant = comparison.contestants[run.contestant];
  const Summary& summary = run.summary;
  std::vector<std::string> fields = {contestant.label,
                                     contestant.method,
                                     settings_text(contestant.own),
                                     std::to_string(run.seed),
                                     summary.end,
                                     number(summary.accuracy),
                                     number(summary.loss),
                                     number(summary.train_loss),
                                     number(summary.wall_s),
                                     number(summary.samples_per_s),
                                     number(summary.speed_share),
                                     number(summary.busy_share),
                                     std::to_string(summary.samples),
                                     std::to_string(summary.commits),
                                     number(summary.staleness_mean),
                                     number(summary.staleness_p99),
                                     number(summary.staleness_max),
                                     number(time_to(run.accuracy, target)),
                                     number(target),
                                     number(bytes_per_sample(summary)),
                                     summary.emulated ? "true" : "false",
                                     summary.folder.string(),
                                     summary.failure};
  for (std::size_t level = 0; level < levels; ++level) {
    for (const auto* bytes : {&summary.bytes_up, &summary.bytes_down}) {
      fields.push_back(level < bytes->size() ? std::to_string((*bytes)[level]) : "");
    }
  }
  return fields;
}

}  // namespace

std::string csv_text(const Comparison& comparison, double target) {
  const std::size_t levels = levels_of(comparison);
  std::string text = joined(head(levels));
  for (const Run& run : comparison.runs) text += joined(row(comparison, run, target, levels));
  return text;
}

}  // namespace thalweg::compare
