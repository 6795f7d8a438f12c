#include "actors/resumption.hpp"

#include "actors/checkpoint.hpp"
#include "models/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

namespace thalweg::actors {

namespace fs = std::filesystem;

double best_accuracy(const fs::path& folder) {
  const auto best = models::load_safetensors(folder / "checkpoints" / "best.safetensors");
  if (!best) return -1;
  const auto accuracy = best->metadata.find("accuracy");
  if (accuracy == best->metadata.end()) return -1;
  char* end = nullptr;
  const double number = std::strtod(accuracy->second.c_str(), &end);
  return end != accuracy->second.c_str() && number >= 0 && number <= 1 ? number : -1;
}

Result<std::optional<Snapshot>> newest_snapshot(const RunFolder& folder, const Config& config,
                                                std::span<const Slot> slots, gpu::BufferPool& pool,
                                                std::string& warning) {
  const auto files = folder.checkpoints();
  if (!files) return files.error();
  for (const auto& file : *files) {
    auto snapshot = read_checkpoint(file, config, slots, pool);
    if (snapshot) return std::optional<Snapshot>(std::move(*snapshot));
    if (snapshot.error().code != ErrorCode::corrupt) return snapshot.error();
    std::error_code ignored;
    fs::rename(file, file.string() + ".unreadable", ignored);
    warning += snapshot.error().text + "; it was put aside. ";
  }
  warning += "There is no checkpoint to go on from: training begins at version 0.";
  return std::optional<Snapshot>();
}

Status check_change(const Override& change) {
  constexpr std::string_view sections[] = {"eval.", "checkpoint.", "stop.", "guard."};
  constexpr std::string_view keys[] = {"train.epochs", "train.steps", "sync.min_workers", "data.dir"};
  const bool allowed =
      std::ranges::any_of(sections, [&](auto section) { return change.key.starts_with(section); }) ||
      std::ranges::find(keys, change.key) != std::end(keys);
  if (allowed) return {};
  const bool by_set = change.flag.empty() || change.flag == "--set";
  return Error{
      ErrorCode::invalid,
      fmt::format(
          "{}: a resumed run keeps its job: only train.epochs, train.steps, sync.min_workers, data.dir and "
          "the keys of eval, checkpoint, stop and guard can be set",
          by_set ? fmt::format("--set {}={}", change.key, change.value) : change.flag + " " + change.value)};
}

Snapshot snapshot_of(const Holding& holding, const Snapshot& own) {
  const auto& ledger = *holding.parameters.ledger;
  Snapshot start;
  start.version = holding.parameters.version();
  start.parameters = holding.parameters.payload;
  start.optimizer = own.optimizer;
  start.optimizer_steps = own.optimizer_steps;
  start.committed_samples = holding.parameters.record.committed_samples;
  start.ledger = ledger.spent;
  start.repeated_samples = ledger.repeated;
  start.quarantined = ledger.quarantined;
  start.refused = ledger.refused;
  return start;
}

std::string state_age(const Snapshot& start, const Snapshot& own) {
  if (own.optimizer.empty()) return "its optimizer has no state";
  return fmt::format("the optimizer's state is that of version {}, {} commits older", own.version.value,
                     start.version.value - own.version.value);
}

std::string not_restored(const rules::Method& method) {
  std::string text =
      "counts of bytes, messages and compute time begin anew, and so do strikes and second tries";
  if (method.replica()) text += "; workers begin at the parameters, with fresh optimizers of their own";
  if (method.merge.compensation != rules::MergeRule::Compensation::none) {
    text += "; the first commit is not corrected for delay";
  }
  return text;
}

}  // namespace thalweg::actors
