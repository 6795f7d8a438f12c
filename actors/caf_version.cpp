#include "actors/caf_version.hpp"

#include <caf/config.hpp>
#include <fmt/format.h>

namespace thalweg {

std::string caf_version() {
  return fmt::format("CAF {}.{}.{}", CAF_VERSION / 10000, CAF_VERSION / 100 % 100, CAF_VERSION % 100);
}

}  // namespace thalweg
