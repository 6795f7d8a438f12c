#include "models/durable_file.hpp"

#include "runtime/files/descriptor.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

namespace thalweg::models {
namespace {

/// False with the reason in errno.
bool write_and_sync(const std::filesystem::path& file, std::span<const std::span<const std::byte>> parts) {
  Descriptor out(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!out.open()) return false;
  for (const auto part : parts) {
    const std::string_view bytes(reinterpret_cast<const char*>(part.data()), part.size());
    if (errno = write_all(out.get(), bytes); errno != 0) return false;
  }
  return ::fsync(out.get()) == 0 && out.close();
}

/// The rename itself must reach the disk, too. Some file systems cannot sync a folder and need not: EINVAL.
bool sync_names_in(const std::filesystem::path& folder) {
  Descriptor in(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return in.open() && (::fsync(in.get()) == 0 || errno == EINVAL);
}

}  // namespace

Status write_durably(const std::filesystem::path& file, std::span<const std::span<const std::byte>> parts) {
  std::filesystem::path partial = file;
  partial += ".partial";
  const bool renamed = write_and_sync(partial, parts) && std::rename(partial.c_str(), file.c_str()) == 0;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (renamed && sync_names_in(folder)) return {};
  const int reason = errno;
  if (!renamed) ::unlink(partial.c_str());
  return Error{ErrorCode::io, fmt::format("cannot write {}: {}", file.string(), std::strerror(reason))};
}

Status sync_folder(const std::filesystem::path& folder) {
  if (sync_names_in(folder)) return {};
  return Error{ErrorCode::io, fmt::format("cannot write {}: {}", folder.string(), std::strerror(errno))};
}

}  // namespace thalweg::models
