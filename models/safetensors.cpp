#include "models/safetensors.hpp"

#include "models/durable_file.hpp"
#include "models/file_error.hpp"
#include "models/safetensors_header.hpp"
#include "runtime/check.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <sys/stat.h>
#include <utility>

namespace thalweg::models {
namespace {

static_assert(std::endian::native == std::endian::little,
              "floats are read and written as they lie in memory");

constexpr std::uint64_t header_bytes_max = 100'000'000;  // the format's own limit
constexpr std::size_t length_bytes = sizeof(std::uint64_t);

std::size_t count_of(const std::vector<std::size_t>& shape) {
  std::size_t count = 1;
  for (const std::size_t dim : shape) count *= dim;
  return count;
}

/// Reads one file front to back, with errors that name it.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : file_(file), handle_(std::fopen(file.c_str(), "rb")) {}

  /// Its length in bytes.
  Result<std::uint64_t> open() {
    if (!handle_) return cannot_read(file_, errno);
    struct stat status {};
    if (::fstat(::fileno(handle_.get()), &status) != 0) return cannot_read(file_, errno);
    if (S_ISDIR(status.st_mode)) return cannot_read(file_, EISDIR);
    length_ = static_cast<std::uint64_t>(status.st_size);
    return length_;
  }

  Status read(void* to, std::size_t bytes) {
    if (std::fread(to, 1, bytes, handle_.get()) == bytes) return {};
    if (std::ferror(handle_.get())) return cannot_read(file_, errno);
    return refused(fmt::format("it ends before the last of the {} bytes it had a moment ago: {}", length_,
                               safetensors_remedy));
  }

  /// `why` says what is wrong and what to do.
  [[nodiscard]] Error refused(const std::string& why) const {
    return {ErrorCode::corrupt, fmt::format("cannot read {} as safetensors: {}", file_.string(), why)};
  }

 private:
  struct Close {
    void operator()(std::FILE* handle) const { std::fclose(handle); }
  };
  const std::filesystem::path& file_;
  std::unique_ptr<std::FILE, Close> handle_;
  std::uint64_t length_ = 0;
};

/// Reads length and header, and checks them against the file's length.
Result<SafetensorsHeader> read_header(Reader& reader, std::uint64_t file_bytes) {
  if (file_bytes < length_bytes) {
    return reader.refused(fmt::format("it has {} bytes, where {} say how long its header is: {}", file_bytes,
                                      length_bytes, safetensors_remedy));
  }
  std::uint64_t header_bytes = 0;
  if (const auto status = reader.read(&header_bytes, length_bytes); !status) return status.error();
  if (header_bytes > file_bytes - length_bytes) {
    return reader.refused(fmt::format("it claims a header of {} bytes, in a file of {}: {}", header_bytes,
                                      file_bytes, safetensors_remedy));
  }
  if (header_bytes > header_bytes_max) {
    return reader.refused(fmt::format("it has a header of {} bytes, and the format allows {}: {}",
                                      header_bytes, header_bytes_max, safetensors_remedy));
  }
  std::string json(static_cast<std::size_t>(header_bytes), ' ');
  if (const auto status = reader.read(json.data(), json.size()); !status) return status.error();
  auto header = parse_header(json);
  if (!header) return reader.refused(header.error().text);
  const auto status = check_header(*header, file_bytes - length_bytes - header_bytes);
  if (!status) return reader.refused(status.error().text);
  return header;
}

const Slot* find_slot(std::span<const Slot> slots, const std::string& name) {
  const auto found = std::ranges::find(slots, name, &Slot::name);
  return found == slots.end() ? nullptr : &*found;
}

}  // namespace

Status save_safetensors(const std::filesystem::path& file, std::span<const NamedTensor> tensors,
                        const std::map<std::string, std::string>& metadata) {
  SafetensorsHeader header;
  header.metadata = metadata;
  std::uint64_t offset = 0;
  for (const NamedTensor& tensor : tensors) {
    THALWEG_CHECK(tensor.values.size() == count_of(tensor.shape),
                  "a tensor has as many values as its shape says");
    const std::uint64_t end = offset + tensor.values.size_bytes();
    header.entries.push_back({tensor.name, "F32", tensor.shape, offset, end});
    offset = end;
  }
  std::string json = print_header(header);
  json.resize((json.size() + 7) / 8 * 8, ' ');
  const std::uint64_t header_bytes = json.size();

  std::vector<std::span<const std::byte>> parts;
  parts.push_back(std::as_bytes(std::span(&header_bytes, 1)));
  parts.push_back(std::as_bytes(std::span(json)));
  for (const NamedTensor& tensor : tensors) parts.push_back(std::as_bytes(tensor.values));
  return write_durably(file, parts);
}

const SafetensorsFile::Entry* SafetensorsFile::find(const std::string& name) const {
  const auto found = std::ranges::find(tensors, name, &Entry::name);
  return found == tensors.end() ? nullptr : &*found;
}

std::uint32_t checksum_of(std::span<const NamedTensor> tensors, std::string_view text) {
  uLong checksum = crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size());
  for (const auto& tensor : tensors) {
    const auto bytes = std::as_bytes(tensor.values);
    checksum = crc32_z(checksum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  }
  return static_cast<std::uint32_t>(checksum);
}

Result<SafetensorsFile> load_safetensors(const std::filesystem::path& file) {
  Reader reader(file);
  const auto file_bytes = reader.open();
  if (!file_bytes) return file_bytes.error();
  auto header = read_header(reader, *file_bytes);
  if (!header) return header.error();

  SafetensorsFile loaded;
  loaded.metadata = std::move(header->metadata);
  loaded.tensors.reserve(header->entries.size());
  // Tensors keep the header's order, their bytes may have another: read those in file order.
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  order.reserve(header->entries.size());
  for (auto& entry : header->entries) {
    order.emplace_back(entry.begin, loaded.tensors.size());
    loaded.tensors.push_back({std::move(entry.name), std::move(entry.shape), {}});
  }
  std::sort(order.begin(), order.end());
  for (const auto& [begin, index] : order) {
    auto& tensor = loaded.tensors[index];
    tensor.values.resize(count_of(tensor.shape));
    const std::size_t bytes = tensor.values.size() * sizeof(float);
    if (const auto status = reader.read(tensor.values.data(), bytes); !status) return status.error();
  }
  return loaded;
}

Status fill_from(const SafetensorsFile& file, std::span<const Slot> slots, std::span<float> parameters,
                 const std::string& what) {
  THALWEG_CHECK(parameters.size() == flat_size(slots), "a flat vector has the size of its slots");
  const auto misfit = [&](const std::string& why) {
    return Error{
        ErrorCode::mismatch,
        fmt::format("{} does not fit the model: {}: set [model] to what it was saved with", what, why)};
  };
  for (const Slot& slot : slots) {
    const auto* entry = file.find(slot.name);
    if (!entry) return misfit(fmt::format("the file has no tensor {}", slot.name));
    if (entry->shape != slot.shape) {
      return misfit(fmt::format("tensor {} is {} in the file and {} in the model", slot.name,
                                shape_text(entry->shape), shape_text(slot.shape)));
    }
  }
  for (const auto& entry : file.tensors) {
    if (entry.name.find(state_separator) == std::string::npos && !find_slot(slots, entry.name)) {
      return misfit(fmt::format("the model has no tensor {}", printable(entry.name)));
    }
  }
  std::ranges::fill(parameters, 0.0F);
  for (const Slot& slot : slots)
    std::ranges::copy(file.find(slot.name)->values, parameters.subspan(slot.offset).begin());
  return {};
}

std::vector<NamedTensor> tensors_of(std::span<const Slot> slots, std::span<const float> parameters) {
  std::vector<NamedTensor> tensors;
  tensors.reserve(slots.size());
  for (const Slot& slot : slots) {
    tensors.push_back({slot.name, slot.shape, parameters.subspan(slot.offset, slot.count)});
  }
  return tensors;
}

}  // namespace thalweg::models
