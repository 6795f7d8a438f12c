#pragma once

#include <thalweg/result.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>

/// Where the processes of a run on one machine find each other: in the run folder are keys for all of them,
/// and, while the root listens, its address and process in root.json. Written by the root, read by whoever
/// starts nodes.
namespace thalweg::cli {

/// The keys in `run_folder`, made unless they are there. Fails: as net::make_local_keys.
Result<std::filesystem::path> local_keys(const std::filesystem::path& run_folder);

/// Adds address and process to what root.json says of the run, through a temporary file.
/// Fails: `io`; `corrupt` when root.json is no object.
Status tell_address(const std::filesystem::path& run_folder, const std::string& address);

/// Takes the address away again, unless it is another process's by now.
Status forget_address(const std::filesystem::path& run_folder);

/// Where the run's root listens, whichever process it is; nothing: it does not say.
std::optional<std::string> address_in(const std::filesystem::path& run_folder);

/// Where the process `root` listens; nothing while it does not say.
std::optional<std::string> address_of(const std::filesystem::path& run_folder, pid_t root);

}  // namespace thalweg::cli
