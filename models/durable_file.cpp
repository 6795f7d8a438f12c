#include "models/durable_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace thalweg::models {
namespace {

/// A file descriptor that is closed when its owner goes.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }
  /// Closes now, and says whether the system minded.
  [[nodiscard]] bool close() {
    const int number = number_;
    number_ = -1;
    return ::close(number) == 0;
  }

 private:
  int number_;
};

bool write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

/// False with the reason in errno.
bool write_and_sync(const std::filesystem::path& file, std::span<const std::span<const std::byte>> parts) {
  Descriptor out(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (out.number() < 0) return false;
  for (const auto part : parts) {
    if (!write_all(out.number(), part)) return false;
  }
  return ::fsync(out.number()) == 0 && out.close();
}

/// The rename itself must reach the disk, too. Some file systems cannot sync a folder and need not: EINVAL.
bool sync_folder_of(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  Descriptor in(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return in.number() >= 0 && (::fsync(in.number()) == 0 || errno == EINVAL);
}

}  // namespace

Status write_durably(const std::filesystem::path& file, std::span<const std::span<const std::byte>> parts) {
  std::filesystem::path partial = file;
  partial += ".partial";
  const bool renamed = write_and_sync(partial, parts) && std::rename(partial.c_str(), file.c_str()) == 0;
  if (renamed && sync_folder_of(file)) return {};
  const int reason = errno;
  if (!renamed) ::unlink(partial.c_str());
  return Error{ErrorCode::io, fmt::format("cannot write {}: {}", file.string(), std::strerror(reason))};
}

}  // namespace thalweg::models
