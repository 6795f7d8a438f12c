#pragma once

#include "actors/checkpoint.hpp"
#include "models/safetensors.hpp"

#include <thalweg/config.hpp>
#include <thalweg/result.hpp>
#include <thalweg/run_event.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// The folder a run leaves behind: job.toml, lock, root.json, metrics.csv, summary.json, model.safetensors,
/// checkpoints/. Opened by the cluster before anything is spawned; written by the reporter (metrics), the
/// keeper (checkpoints) and, at the end, by the thread that waits for the run.
namespace thalweg::actors {

class RunFolder {
 public:
  /// Makes `config.run.out` (or, when empty, the first free runs/NAME or runs/MODEL-N), takes its lock and
  /// writes job.toml and root.json.
  /// Fails: `busy` when another process holds the lock (says which pid) ; `invalid` when the folder holds a
  /// finished or interrupted run (nothing of it is touched), or something that is no run folder; `io`.
  static Result<RunFolder> create(const Config& config, const std::string& run_id);

  /// Makes the folder that `create` takes, given `config` with its name as run.out. For whoever puts
  /// something there before the run begins: `create` minds neither the folders `keys` and `log` in it, nor
  /// the lock. Fails: as `create`, but does not know whether it is in use.
  static Result<std::filesystem::path> prepare(const Config& config);

  /// Takes the lock of a folder in which a run has begun, to go on with it; changes nothing yet.
  /// Fails: `not_found` when there is no such folder or no job.toml in it; `busy`; `io`.
  static Result<RunFolder> reopen(const std::filesystem::path& folder);

  /// The run that goes on from `version`, as `config` says: job.toml and root.json are written anew, and the
  /// rows of metrics.csv that came after that version go. Once, after `reopen`.
  Status go_on(const Config& config, const std::string& run_id, std::uint64_t version);
  /// The rows of metrics.csv that came after `version` go. Before anything is added to it.
  Status forget_after(std::uint64_t version);

  RunFolder(RunFolder&&) noexcept;
  RunFolder& operator=(RunFolder&&) noexcept;
  ~RunFolder();  ///< lets go of the lock

  [[nodiscard]] const std::filesystem::path& path() const;

  /// As root.json had it when the folder was opened; empty when it could not be read.
  [[nodiscard]] std::string run_id() const;
  /// Likewise; 0 when it could not be read.
  [[nodiscard]] std::uint32_t term() const;

  /// Files of the checkpoints, the newest version first. Fails: `io` when their folder cannot be read.
  [[nodiscard]] Result<std::vector<std::filesystem::path>> checkpoints() const;

  /// One row of metrics.csv; `evaluated` may be null: its columns stay empty.
  Status add_metrics(const Progressed& progressed, const Evaluated* evaluated);

  /// model.safetensors: PyTorch's names, nothing that changes between equal runs.
  Status save_model(std::span<const models::NamedTensor> tensors);

  /// checkpoints/version-N.safetensors; then removes all but the `keep` newest. When it fails, nothing was
  /// removed.
  Status save_checkpoint(std::uint64_t version, const CheckpointFile& checkpoint, std::size_t keep);
  /// checkpoints/best.safetensors.
  Status save_best(const CheckpointFile& checkpoint);

  Status save_summary(const Summary& summary);

 private:
  Status write_checkpoint(const std::string& name, const CheckpointFile& checkpoint);

  struct State;
  explicit RunFolder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The one-line JSON object of summary.json and `--json`; names as in the docs, `schema` = 1.
std::string summary_json(const Summary& summary);

}  // namespace thalweg::actors
