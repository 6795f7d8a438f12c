#pragma once

#include <thalweg/result.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

/// A data file as a stream of bytes, gzipped or not: whoever reads it need not know. Between the file system
/// and the readers of data formats (idx.cpp); one thread.
namespace thalweg::models {

class ByteSource {
 public:
  /// Opens `file` and looks at its first bytes, which decide whether it is unpacked; its name does not.
  /// Fails: `not_found`, `io`, naming the file and the system's reason.
  static Result<ByteSource> open(const std::filesystem::path& file);

  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;
  ~ByteSource();

  /// Fills `bytes` from where the last call ended. Fewer than asked for: the stream ends there.
  /// Fails: `corrupt` for a broken or truncated gzip stream, `io`; after a failure nothing more can be read.
  Result<std::size_t> read(std::span<std::uint8_t> bytes);

  /// Bytes of the file as it lies on the disk, and the most that `read` can make of them: a reader that is
  /// promised more than this need not even try to allocate it.
  [[nodiscard]] std::uint64_t stored_bytes() const;
  [[nodiscard]] std::uint64_t bytes_at_most() const;

 private:
  struct State;
  explicit ByteSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace thalweg::models
