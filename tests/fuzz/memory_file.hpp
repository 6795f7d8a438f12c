#pragma once

#include "runtime/check.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

/// A file that only this process sees and no disk holds: the readers under test take paths, and a fuzzer
/// gives them thousands of files a second.
namespace thalweg::fuzz {

class MemoryFile {
 public:
  /// `name` shows up in no path; it tells files apart in /proc.
  explicit MemoryFile(const char* name)
      : number_(::memfd_create(name, MFD_CLOEXEC)), path_("/proc/self/fd/" + std::to_string(number_)) {
    THALWEG_CHECK(number_ >= 0, "a file can be kept in memory");
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(number_); }

  /// Makes `bytes` all that the file holds.
  void write(std::span<const std::uint8_t> bytes) {
    THALWEG_CHECK(::ftruncate(number_, 0) == 0, "a file in memory can be emptied");
    const auto written = ::pwrite(number_, bytes.data(), bytes.size(), 0);
    THALWEG_CHECK(written == static_cast<ssize_t>(bytes.size()), "a file in memory takes what is written");
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  int number_;
  std::filesystem::path path_;
};

}  // namespace thalweg::fuzz
