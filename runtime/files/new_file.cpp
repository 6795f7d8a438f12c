#include "runtime/files/new_file.hpp"

#include "runtime/files/descriptor.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace thalweg {
namespace {

Error system_error(std::string_view what, const std::filesystem::path& path, int reason) {
  return {ErrorCode::io, fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(reason))};
}

/// Gives the whole file its name, unless the name is taken. False with the reason in errno.
bool rename_new(const std::string& partial, const std::string& file) {
  if (::renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, file.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // Some network file systems cannot do both at once.
  if (::access(file.c_str(), F_OK) == 0) {
    errno = EEXIST;
    return false;
  }
  return std::rename(partial.c_str(), file.c_str()) == 0;
}

/// The rename itself must reach the disk, too. Some file systems cannot sync a folder and need not: EINVAL.
bool sync_names_in(const std::filesystem::path& folder) {
  const Descriptor in(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return in.open() && (::fsync(in.get()) == 0 || errno == EINVAL);
}

/// False with the reason in errno.
bool fill(Descriptor out, std::string_view text, mode_t mode) {
  if (::fchmod(out.get(), mode) != 0) return false;
  if (errno = write_all(out.get(), text); errno != 0) return false;
  return ::fsync(out.get()) == 0 && out.close();
}

}  // namespace

Status write_new_file(const std::filesystem::path& file, std::string_view text, mode_t mode) {
  std::string partial = file.string() + ".partial-XXXXXX";
  Descriptor out(::mkostemp(partial.data(), O_CLOEXEC));  // made with 0600
  if (!out.open()) return system_error("write", file, errno);
  const bool named = fill(std::move(out), text, mode) && rename_new(partial, file.string());
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (named && sync_names_in(folder)) return {};
  const int reason = errno;
  if (!named) ::unlink(partial.c_str());
  if (reason == EEXIST) {
    return Error{ErrorCode::busy,
                 fmt::format("{}: is there already: remove it, or give another folder", file.string())};
  }
  return system_error("write", file, reason);
}

Status make_private_folder(const std::filesystem::path& named) {
  const std::filesystem::path folder = named.has_filename() ? named : named.parent_path();  // "keys/"
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return {};
  error.clear();
  const std::filesystem::path above = folder.parent_path();
  if (!above.empty()) std::filesystem::create_directories(above, error);
  if (error) return system_error("make the folder", above, error.value());
  // The umask can only take permissions away; the owner's own must be whole.
  if (::mkdir(folder.c_str(), 0700) == 0 && ::chmod(folder.c_str(), 0700) == 0) return {};
  if (errno == EEXIST && std::filesystem::is_directory(folder, error)) return {};
  return system_error("make the folder", folder, errno);
}

Result<std::string> read_small_file(const std::filesystem::path& file, std::size_t bytes_max) {
  // Without O_NONBLOCK a named pipe would be waited for.
  const Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!in.open() && errno == ENOENT) {
    return Error{ErrorCode::not_found, fmt::format("{}: no such file", file.string())};
  }
  if (!in.open()) return system_error("read", file, errno);
  std::string text(bytes_max + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(in.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read", file, errno);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > bytes_max) {
    return Error{ErrorCode::corrupt, fmt::format("{}: holds more than {} bytes: it is some other file",
                                                 file.string(), bytes_max)};
  }
  text.resize(size);
  return text;
}

}  // namespace thalweg
