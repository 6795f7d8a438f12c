#pragma once

#include <thalweg/result.hpp>

#include <filesystem>
#include <string_view>

namespace thalweg::models {

/// A file that the system does not let us read, `reason` being its errno: "cannot read FILE: why: what to
/// do". `not_found` when it is not there, `io` otherwise.
Error cannot_read(const std::filesystem::path& file, int reason);

/// Something else that the system did not let us do to a file or folder, as "write": "cannot WHAT FILE: why:
/// what to do". Always `io`.
Error cannot(std::string_view what, const std::filesystem::path& file, int reason);

}  // namespace thalweg::models
