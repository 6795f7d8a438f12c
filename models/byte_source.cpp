#include "models/byte_source.hpp"

#include "models/file_error.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string>

namespace thalweg::models {
namespace {

/// Deflate cannot do better: 258 bytes from a quarter of a byte. (zlib, "Maximum compression factor".)
constexpr std::uint64_t deflate_ratio_max = 1032;

}  // namespace

struct ByteSource::State {
  std::filesystem::path file;
  std::FILE* handle = nullptr;
  std::uint64_t stored = 0;
  std::uint64_t given = 0;  ///< bytes handed out so far

  bool packed = false;
  bool member_open = false;  ///< inside a gzip member: the end of the file is no end of the stream
  bool inflating = false;    ///< `unpacker` is initialised
  z_stream unpacker{};
  std::array<std::uint8_t, 64 * 1024> input{};

  ~State() {
    if (inflating) inflateEnd(&unpacker);
    if (handle) std::fclose(handle);
  }

  Status start();
  Result<std::size_t> read_stored(std::span<std::uint8_t> bytes);
  Result<std::size_t> read_unpacked(std::span<std::uint8_t> bytes);
  Status refill();
  Error broken(const std::string& why) const {
    return {ErrorCode::corrupt,
            fmt::format("{}: broken gzip stream after {} unpacked bytes: {}: fetch the file again",
                        file.string(), given, why)};
  }
};

Status ByteSource::State::start() {
  handle = std::fopen(file.c_str(), "rb");
  if (!handle) return cannot_read(file, errno);
  std::array<std::uint8_t, 2> first{};
  const auto got = read_stored(first);
  if (!got) return got.error();
  packed = *got == 2 && first[0] == 0x1f && first[1] == 0x8b;
  if (std::fseek(handle, 0, SEEK_END) != 0) return cannot_read(file, errno);
  const long end = std::ftell(handle);
  if (end < 0) return cannot_read(file, errno);
  stored = static_cast<std::uint64_t>(end);
  std::rewind(handle);
  if (packed) {
    if (inflateInit2(&unpacker, 16 + MAX_WBITS) != Z_OK)
      return Error{ErrorCode::failed,
                   fmt::format("cannot read {}: zlib did not start: free some memory", file.string())};
    inflating = true;
    member_open = true;
  }
  return {};
}

Result<std::size_t> ByteSource::State::read_stored(std::span<std::uint8_t> bytes) {
  const std::size_t got = std::fread(bytes.data(), 1, bytes.size(), handle);
  if (got < bytes.size() && std::ferror(handle)) return cannot_read(file, errno);
  return got;
}

Status ByteSource::State::refill() {
  const auto got = read_stored(input);
  if (!got) return got.error();
  unpacker.next_in = input.data();
  unpacker.avail_in = static_cast<uInt>(*got);
  return {};
}

Result<std::size_t> ByteSource::State::read_unpacked(std::span<std::uint8_t> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    if (unpacker.avail_in == 0) {
      if (const auto status = refill(); !status) return status.error();
    }
    const bool file_ended = unpacker.avail_in == 0;
    if (file_ended && !member_open) return done;
    // A gzip file may be several members in a row; what follows the last one must be one too.
    if (!member_open) {
      inflateReset(&unpacker);
      member_open = true;
    }
    const std::size_t room = std::min<std::size_t>(bytes.size() - done, std::size_t{1} << 30);
    unpacker.next_out = bytes.data() + done;
    unpacker.avail_out = static_cast<uInt>(room);
    const int code = inflate(&unpacker, Z_NO_FLUSH);
    const std::size_t made = room - unpacker.avail_out;
    done += made;
    given += made;
    if (code == Z_STREAM_END) {
      member_open = false;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      return broken(unpacker.msg ? unpacker.msg : "zlib refused it");
    } else if (file_ended && made == 0) {
      // Only now: zlib may hold output of input that it took long ago.
      return broken("the file ends in the middle");
    }
  }
  return done;
}

ByteSource::ByteSource(std::unique_ptr<State> state) : state_(std::move(state)) {}
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;
ByteSource::~ByteSource() = default;

Result<ByteSource> ByteSource::open(const std::filesystem::path& file) {
  auto state = std::make_unique<State>();
  state->file = file;
  if (const auto status = state->start(); !status) return status.error();
  return ByteSource(std::move(state));
}

Result<std::size_t> ByteSource::read(std::span<std::uint8_t> bytes) {
  return state_->packed ? state_->read_unpacked(bytes) : state_->read_stored(bytes);
}

std::uint64_t ByteSource::stored_bytes() const { return state_->stored; }

std::uint64_t ByteSource::bytes_at_most() const {
  return state_->packed ? state_->stored * deflate_ratio_max : state_->stored;
}

}  // namespace thalweg::models
