#pragma once

#include <thalweg/result.hpp>

#include <filesystem>
#include <string_view>
#include <sys/types.h>

/// Files and folders that must have the right permissions from their first moment, as private keys: whatever
/// the umask is, nobody can open them in between.
namespace thalweg {

/// Makes `file` with the bytes of `text` and exactly the permissions `mode`, through a temporary file beside
/// it, fsync, rename and fsync of the folder: a crash at any moment leaves no file, or the whole one.
/// Fails: `busy` when `file` is there already, which stays as it is; `io` with the system's reason.
Status write_new_file(const std::filesystem::path& file, std::string_view text, mode_t mode);

/// Makes `folder` (and those above it, with the usual permissions) so that only its owner sees into it. One
/// that is there keeps its permissions. Fails: `io`.
Status make_private_folder(const std::filesystem::path& folder);

/// Everything in `file`. Fails: `not_found`; `io` (no permission, a folder); `corrupt` when it holds more
/// than `bytes_max`.
Result<std::string> read_small_file(const std::filesystem::path& file, std::size_t bytes_max);

}  // namespace thalweg
