#pragma once

#include <string>
#include <vector>

namespace thalweg::net {

/// The libraries that connections stand on, as they run: "OpenSSL 3.0.19", "Boost 1.74.0".
std::vector<std::string> library_versions();

}  // namespace thalweg::net
