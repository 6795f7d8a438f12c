#pragma once

#include <thalweg/result.hpp>

#include <cstddef>
#include <filesystem>
#include <span>

namespace thalweg::models {

/// Makes `file` hold the bytes of `parts`, one after the other, through a temporary file beside it (the name
/// with ".partial" added), fsync, rename and fsync of the folder: a crash at any moment leaves the old file
/// or the new one. Blocks until the disk has it; one writer of a file at a time. Fails: `io`, naming the file
/// and the system's reason; the old file is untouched, unless only the sync of the folder failed.
Status write_durably(const std::filesystem::path& file, std::span<const std::span<const std::byte>> parts);

/// Waits until the disk has the names in `folder`. Fails: `io`.
Status sync_folder(const std::filesystem::path& folder);

}  // namespace thalweg::models
