#include "tools/compare/result.hpp"

#include "tools/text/numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace thalweg::compare {
namespace {

std::string length_words(const Config& job) {
  std::string words = job.train.steps > 0     ? fmt::format("{} rounds", text::human_count(job.train.steps))
                      : job.train.epochs == 1 ? "1 epoch"
                                              : fmt::format("{} epochs", text::human_count(job.train.epochs));
  if (job.stop.max_samples > 0)
    words += fmt::format(", at most {} samples", text::human_count(job.stop.max_samples));
  return words;
}

std::string seed_words(const std::vector<std::uint64_t>& seeds) {
  if (seeds.empty()) return "no seed";
  if (seeds.size() == 1) return fmt::format("seed {}", seeds[0]);
  return fmt::format("seeds {} to {}", seeds.front(), seeds.back());
}

}  // namespace

std::string job_words(const Comparison& comparison) {
  const Config& job = comparison.job;
  const auto began =
      std::ranges::find_if(comparison.runs, [](const Run& run) { return run.started.train_samples > 0; });
  std::string words = job.model.name;
  const bool known = began != comparison.runs.end();
  if (known) words += fmt::format(" ({} parameters)", text::human_count(began->started.parameters));
  words += " on " + job.data.name;
  if (known) words += fmt::format(" ({} samples)", text::human_count(began->started.train_samples));
  words += fmt::format("; {} {}", job.topology.tree.worker_count(),
                       job.topology.tree.worker_count() == 1 ? "worker" : "workers");
  if (const auto leaders = job.topology.tree.leader_count(); leaders > 0) {
    words += fmt::format(" in {} {}, tree {}", leaders, leaders == 1 ? "group" : "groups",
                         job.topology.tree.text());
  }
  words += fmt::format("; batch {} per worker", fmt::join(job.train.batch, ", "));
  words += fmt::format("; {}, lr {} {}", job.train.optimizer, job.train.lr, job.train.schedule);
  if (job.train.optimizer == "sgd") words += fmt::format(", momentum {}", job.train.momentum);
  words += "; " + length_words(job) + "; " + seed_words(comparison.seeds);
  if (known && !began->started.device.empty()) words += "; " + began->started.device;
  return words;
}

std::string settings_text(const std::vector<Setting>& settings) {
  std::string text;
  for (const Setting& setting : settings) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", setting.key, setting.value);
  }
  return text;
}

}  // namespace thalweg::compare
