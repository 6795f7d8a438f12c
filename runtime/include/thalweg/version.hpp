#pragma once

#include <string_view>

namespace thalweg {

/// The release this program was built from, as "0.1.0".
std::string_view version();

}  // namespace thalweg
