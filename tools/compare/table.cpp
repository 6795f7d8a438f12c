#include "tools/compare/table.hpp"

#include "tools/text/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace thalweg::compare {
namespace {

constexpr const char* none = "—";
constexpr std::size_t gap = 2;

std::string count_text(double count) {
  return text::human_count(static_cast<std::uint64_t>(std::llround(count)));
}

std::string bytes_text(double bytes) {
  return text::human_bytes(static_cast<std::uint64_t>(std::llround(bytes)));
}

std::string share_text(double share) { return fmt::format("{:.0f} %", share * 100); }

std::string mean_text(const Spread& spread, const std::function<std::string(double)>& written) {
  return spread.known() ? written(spread.mean) : none;
}

std::string accuracy_text(const Spread& accuracy) {
  if (!accuracy.known()) return none;
  if (accuracy.count == 1) return text::human_percent(accuracy.mean);
  return fmt::format("{} ± {:.2f}", text::human_percent(accuracy.mean), accuracy.range() * 100);
}

std::string loss_text(const Spread& loss) {
  return mean_text(loss, [](double mean) {
    return mean < 1000 ? fmt::format("{:.4f}", mean) : fmt::format("{:.3g}", mean);
  });
}

std::string target_text(const Figures& figures) {
  if (!figures.to_target_s.known()) return none;
  const std::string time = text::human_seconds(figures.to_target_s.mean);
  if (figures.to_target_s.count == figures.done) return time;
  return fmt::format("{} ({} of {})", time, figures.to_target_s.count, figures.done);
}

std::string level_text(const Figures& figures, std::size_t level) {
  const auto bytes = [&](const std::vector<Spread>& levels) {
    return level < levels.size() ? mean_text(levels[level], bytes_text) : none;
  };
  return bytes(figures.up) + " + " + bytes(figures.down);
}

/// Columns of a terminal that `text` takes. Requires: UTF-8 of letters one column wide.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string spaces(width - std::min(width, width_of(text)), ' ');
  return right ? spaces + text : text + spaces;
}

std::size_t width_of(const Column& column) {
  std::size_t width = std::max(width_of(column.name), width_of(column.unit));
  for (const std::string& cell : column.cells) width = std::max(width, width_of(cell));
  return width;
}

std::string names_without_learning(const Comparison& comparison) {
  std::string names;
  for (const std::size_t index : without_learning(comparison)) {
    names += (names.empty() ? "" : "; ") + comparison.contestants[index].label;
  }
  return names;
}

std::string line_of(const std::vector<const Column*>& block,
                    const std::function<std::string(const Column&)>& cell) {
  std::string line;
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (i > 0) line += std::string(gap, ' ');
    line += padded(cell(*block[i]), width_of(*block[i]), i > 0);
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string block_text(const std::vector<const Column*>& block) {
  std::string text = line_of(block, [](const Column& column) { return column.name; });
  text += line_of(block, [](const Column& column) { return column.unit; });
  for (std::size_t row = 0; row < block[0]->cells.size(); ++row) {
    text += line_of(block, [&](const Column& column) { return column.cells[row]; });
  }
  return text;
}

}  // namespace

bool is_emulated(const Comparison& comparison) {
  return comparison.job.emulate.any() ||
         std::ranges::any_of(comparison.runs, [](const Run& run) { return run.summary.emulated; });
}

std::string target_words(double target) {
  return std::isnan(target) ? "an unknown accuracy" : text::human_percent(target);
}

std::vector<Column> table_columns(const Comparison& comparison, const std::vector<Figures>& figures,
                                  double target) {
  std::vector<Column> columns;
  const auto add = [&](std::string name, std::string unit,
                       const std::function<std::string(const Figures&)>& cell) {
    Column column{std::move(name), std::move(unit), {}};
    for (const Figures& each : figures) column.cells.push_back(cell(each));
    columns.push_back(std::move(column));
  };
  Column names{"method", "", {}};
  for (const Contestant& contestant : comparison.contestants) names.cells.push_back(contestant.label);
  columns.push_back(std::move(names));

  const std::string timed = is_emulated(comparison) ? "emulated" : "";
  add("accuracy", "mean ± spread", [](const Figures& f) { return accuracy_text(f.accuracy); });
  add("loss", "", [](const Figures& f) { return loss_text(f.loss); });
  add("time to", target_words(target), [](const Figures& f) { return target_text(f); });
  add("wall", timed, [](const Figures& f) { return mean_text(f.wall_s, text::human_seconds); });
  add("samples/s", timed, [](const Figures& f) { return mean_text(f.samples_per_s, count_text); });
  add("speed", "share", [](const Figures& f) { return mean_text(f.speed_share, share_text); });
  add("busy", "share", [](const Figures& f) { return mean_text(f.busy_share, share_text); });
  add("runs", "done",
      [&](const Figures& f) { return fmt::format("{} of {}", f.done, comparison.seeds.size()); });
  add("commits", "", [](const Figures& f) { return mean_text(f.commits, count_text); });
  const auto age = [](double versions) { return fmt::format("{:.2f}", versions); };
  add("staleness", "mean", [&](const Figures& f) { return mean_text(f.staleness_mean, age); });
  add("staleness", "p99", [&](const Figures& f) { return mean_text(f.staleness_p99, age); });
  add("bytes", "per sample", [](const Figures& f) { return mean_text(f.bytes_per_sample, bytes_text); });

  std::size_t levels = 0;
  for (const Figures& each : figures) levels = std::max({levels, each.up.size(), each.down.size()});
  for (std::size_t level = 0; level < levels; ++level) {
    add(level == 0 ? "root" : fmt::format("level {}", level), "up + down",
        [&](const Figures& f) { return f.done > 0 ? level_text(f, level) : none; });
  }
  return columns;
}

std::string table_text(const std::vector<Column>& columns, std::size_t width) {
  std::string text;
  std::vector<const Column*> block = {columns.data()};
  std::size_t taken = width_of(columns[0]);
  for (std::size_t i = 1; i < columns.size(); ++i) {
    const std::size_t more = gap + width_of(columns[i]);
    if (taken + more > width && block.size() > 1) {
      text += block_text(block) + "\n";
      block.resize(1);
      taken = width_of(columns[0]);
    }
    block.push_back(&columns[i]);
    taken += more;
  }
  return text + block_text(block);
}

std::vector<std::string> table_notes(const Comparison& comparison, const std::vector<Figures>& figures,
                                     double target) {
  std::vector<std::string> notes;
  if (is_emulated(comparison)) {
    notes.emplace_back(
        "Emulated: slower workers and links than the machine has; computing and learning are real.");
  }
  notes.push_back(
      check_samples(comparison).words() +
      " Runs of one seed began with equal weights, one after the other, in an order that changes with "
      "the seed.");
  if (comparison.seeds.size() > 1) {
    notes.push_back(
        fmt::format("Means over {} seeds; the spread is the largest accuracy less the smallest, in "
                    "percentage points.",
                    comparison.seeds.size()));
  }
  if (!std::isnan(target)) {
    notes.push_back(fmt::format(
        "Time to {}{}: training time, interpolated between evaluations, before the first one from none at "
        "the start.",
        target_words(target), comparison.asked_target ? "" : " (99 % of the lowest final accuracy)"));
  }
  if (const std::string names = names_without_learning(comparison); !names.empty()) {
    notes.push_back(fmt::format("{}: a run ended below half of the best accuracy{}.", names,
                                comparison.asked_target ? "" : ", left out of that target"));
  }
  for (const Contestant& contestant : comparison.contestants) {
    if (contestant.own.empty()) continue;
    notes.push_back(
        fmt::format("{} has settings of its own: {}.", contestant.label, settings_text(contestant.own)));
  }
  for (std::size_t i = 0; i < figures.size(); ++i) {
    if (figures[i].others.empty()) continue;
    const auto why = std::ranges::find_if(
        comparison.runs, [&](const Run& run) { return run.contestant == i && !run.summary.failure.empty(); });
    notes.push_back(fmt::format("{}: {}, left out of the means{}", comparison.contestants[i].label,
                                figures[i].others,
                                why == comparison.runs.end() ? "." : ": " + why->summary.failure));
  }
  if (comparison.runs.size() < comparison.planned_runs()) {
    notes.push_back(fmt::format("Ended early: {} of {} runs were made.", comparison.runs.size(),
                                comparison.planned_runs()));
  }
  return notes;
}

}  // namespace thalweg::compare
