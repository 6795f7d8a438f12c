#pragma once

#include "models/safetensors.hpp"

#include <thalweg/config.hpp>
#include <thalweg/result.hpp>
#include <thalweg/run_event.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <span>
#include <string>

/// The folder a run leaves behind: job.toml, lock, root.json, metrics.csv, summary.json, model.safetensors,
/// checkpoints/. Opened by the cluster before anything is spawned; written by the reporter and, at the end,
/// by the thread that waits for the run.
namespace thalweg::actors {

class RunFolder {
 public:
  /// Makes `config.run.out` (or, when empty, the first free runs/NAME or runs/MODEL-N), takes its lock and
  /// writes job.toml and root.json.
  /// Fails: `busy` when another process holds the lock (says which pid) ; `invalid` when the folder holds a
  /// finished or interrupted run (nothing of it is touched), or something that is no run folder; `io`.
  static Result<RunFolder> create(const Config& config, const std::string& run_id);

  RunFolder(RunFolder&&) noexcept;
  RunFolder& operator=(RunFolder&&) noexcept;
  ~RunFolder();  ///< lets go of the lock

  [[nodiscard]] const std::filesystem::path& path() const;

  /// One row of metrics.csv; `evaluated` may be null: its columns stay empty.
  Status add_metrics(const Progressed& progressed, const Evaluated* evaluated);

  /// model.safetensors: PyTorch's names, nothing that changes between equal runs.
  Status save_model(std::span<const models::NamedTensor> tensors);

  /// checkpoints/version-N.safetensors: parameters, optimizer state, and the run's state as metadata.
  Status save_checkpoint(std::uint64_t version, std::span<const models::NamedTensor> tensors,
                         const std::map<std::string, std::string>& metadata);

  Status save_summary(const Summary& summary);

 private:
  struct State;
  explicit RunFolder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The one-line JSON object of summary.json and `--json`; names as in the docs, `schema` = 1.
std::string summary_json(const Summary& summary);

}  // namespace thalweg::actors
