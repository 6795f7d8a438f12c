#pragma once

#include <string>

namespace thalweg {

/// "CAF 0.17.6": the one that this was built with; another one would not be loaded.
std::string caf_version();

}  // namespace thalweg
