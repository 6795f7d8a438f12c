#pragma once

#include <thalweg/result.hpp>

#include <filesystem>

namespace thalweg::models {

/// A file that the system does not let us read, `reason` being its errno: "cannot read FILE: why: what to
/// do". `not_found` when it is not there, `io` otherwise.
Error cannot_read(const std::filesystem::path& file, int reason);

}  // namespace thalweg::models
