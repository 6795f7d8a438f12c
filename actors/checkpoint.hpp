#pragma once

#include "actors/snapshot.hpp"
#include "gpu/buffer.hpp"
#include "models/safetensors.hpp"

#include <thalweg/config.hpp>
#include <thalweg/model.hpp>
#include <thalweg/result.hpp>

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

/// A snapshot as a checkpoint file and back: parameters and optimizer state as tensors, the rest as metadata.
/// Written by the keeper and at the end of a run, read when a run goes on.
namespace thalweg::actors {

/// What save_safetensors takes. The tensors view `snapshot`.
struct CheckpointFile {
  std::vector<models::NamedTensor> tensors;
  std::map<std::string, std::string> metadata;
};
CheckpointFile checkpoint_of(const Config& config, std::span<const Slot> slots, const Snapshot& snapshot);

/// The snapshot in `file`, its parameters in a buffer of `pool`.
/// Fails: as load_safetensors; `corrupt` when metadata are missing or no numbers, or the checksum does not
/// fit; `mismatch` when it is of another model or another job than `config`.
Result<Snapshot> read_checkpoint(const std::filesystem::path& file, const Config& config,
                                 std::span<const Slot> slots, gpu::BufferPool& pool);

/// Name of the file: "version-812.safetensors".
std::string checkpoint_name(std::uint64_t version);

/// Ranges as metadata have them: "epoch:begin+count", in order, with spaces between.
std::string ranges_text(const std::vector<IndexRange>& ranges);

/// Fails: `corrupt` for anything that ranges_text would not write.
Result<std::vector<IndexRange>> read_ranges(const std::string& text);

}  // namespace thalweg::actors
