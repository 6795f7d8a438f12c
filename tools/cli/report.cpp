#include "tools/cli/report.hpp"

#include "tools/cli/progress.hpp"

#include <fmt/format.h>

#include <cmath>

namespace thalweg::cli {
namespace {

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return human_count(count) + " " + (count == 1 ? one : many);
}

std::string row(const char* name, const std::string& text) { return fmt::format("{:<14} {}\n", name, text); }

/// "root 45.0 MB, level 1 90.0 MB".
std::string per_level(const std::vector<std::uint64_t>& bytes) {
  std::string text;
  for (std::size_t level = 0; level < bytes.size(); ++level) {
    text += level == 0 ? "root " : fmt::format(", level {} ", level);
    text += human_bytes(bytes[level]);
  }
  return text.empty() ? "none" : text;
}

bool evaluated(const Summary& summary) { return !std::isnan(summary.loss) && !std::isnan(summary.accuracy); }

std::string verbose_rows(const Summary& summary) {
  std::string text;
  text += row("setup", fmt::format("{}, of which {} reading the data", human_seconds(summary.setup_s),
                                   human_seconds(summary.data_s)));
  text += row("compute", fmt::format("{} over all workers", human_seconds(summary.compute_s)));
  text += row("staleness", fmt::format("mean {:.2f}, p99 {:.0f}, max {:.0f}", summary.staleness_mean,
                                       summary.staleness_p99, summary.staleness_max));
  text += row("messages", human_count(summary.messages));
  text +=
      row("ledger", fmt::format("{} committed, {} repeated, {} quarantined", human_count(summary.committed),
                                human_count(summary.repeated), human_count(summary.quarantined)));
  return text;
}

}  // namespace

std::string start_line(const Config& config, const Started& started) {
  std::string line =
      fmt::format("training {} ({} parameters) on {} ({} samples): {}", config.model.name,
                  human_count(started.parameters), config.data.name, human_count(started.train_samples),
                  counted(started.workers, "worker", "workers"));
  if (started.leaders > 0) line += " in " + counted(started.leaders, "group", "groups");
  if (!started.tree.empty()) line += " " + started.tree;
  line += ", " + config.sync.method;
  if (!started.device.empty()) line += ", " + started.device;
  if (!started.folder.empty()) line += ", into " + started.folder.string();
  return line;
}

std::string result_block(const Summary& summary, bool verbose) {
  std::string text;
  text += row("test accuracy", evaluated(summary) ? human_percent(summary.accuracy) : "not evaluated");
  if (evaluated(summary)) text += row("test loss", fmt::format("{:.4f}", summary.loss));
  text += row("wall time", human_seconds(summary.wall_s));
  text += row("speed",
              fmt::format("{} samples/s{}", human_count(static_cast<std::uint64_t>(summary.samples_per_s)),
                          summary.emulated ? ", emulated" : ""));
  if (!std::isnan(summary.speed_share)) {
    text +=
        row("speed share", fmt::format("{:.0f} % of what the workers make alone", summary.speed_share * 100));
  }
  text += row("busy", fmt::format("{:.0f} % of the time of {}", summary.busy_share * 100,
                                  counted(summary.workers, "worker", "workers")));
  text += row("commits",
              fmt::format("{}, {} samples, {} {}", human_count(summary.commits), human_count(summary.samples),
                          human_epochs(summary.epochs), summary.epochs == 1 ? "epoch" : "epochs"));
  text += row("bytes up", per_level(summary.bytes_up));
  text += row("bytes down", per_level(summary.bytes_down));
  if (summary.refused > 0) text += row("refused", counted(summary.refused, "contribution", "contributions"));
  if (summary.quarantined > 0) {
    text +=
        row("quarantined", counted(summary.quarantined, "sample, refused twice", "samples, refused twice"));
  }
  if (verbose) text += verbose_rows(summary);
  if (summary.end != "done") {
    text += row("end", summary.end);
  } else if (summary.ended_by != "data" && !summary.ended_by.empty()) {
    text += row("end", "by stop." + summary.ended_by);
  }
  if (summary.end == "done" || summary.end == "stopped") {
    text += row("model", (summary.folder / "model.safetensors").string());
  } else {
    text += row("folder", summary.folder.string());
  }
  return text;
}

}  // namespace thalweg::cli
