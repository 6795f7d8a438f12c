#include <thalweg/version.hpp>

namespace thalweg {

// The build defines THALWEG_VERSION for this file alone, so that a new version compiles one file.
std::string_view version() { return THALWEG_VERSION; }

}  // namespace thalweg
