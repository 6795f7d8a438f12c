#include "models/file_error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace thalweg::models {
namespace {

const char* remedy_for(int reason) {
  switch (reason) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
      return "check the path";
    case EACCES:
    case EPERM:
      return "check its permissions";
    case EISDIR:
      return "give the file in it";
    case ESPIPE:
      return "give a file on a disk";
    default:
      return "check the disk that it is on";
  }
}

}  // namespace

Error cannot_read(const std::filesystem::path& file, int reason) {
  return {reason == ENOENT ? ErrorCode::not_found : ErrorCode::io,
          fmt::format("cannot read {}: {}: {}", file.string(), std::strerror(reason), remedy_for(reason))};
}

Error cannot(std::string_view what, const std::filesystem::path& file, int reason) {
  const char* advice = reason == ENOSPC || reason == EDQUOT ? "free some space on that disk"
                                                            : "check the path and its permissions";
  return {ErrorCode::io,
          fmt::format("cannot {} {}: {}: {}", what, file.string(), std::strerror(reason), advice)};
}

}  // namespace thalweg::models
