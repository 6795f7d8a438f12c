#pragma once

#include <thalweg/model.hpp>
#include <thalweg/result.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The safetensors format (u64 little-endian header size, JSON header, raw tensors), fp32 only: what PyTorch,
/// NumPy and JAX read by name. https://github.com/huggingface/safetensors#format
namespace thalweg::models {

struct NamedTensor {
  std::string name;
  std::vector<std::size_t> shape;
  std::span<const float> values;
};

/// Writes `tensors` in their order, the header padded to 8 bytes; metadata in key order. The bytes depend on
/// the arguments alone. Goes through a temporary file beside `file`, fsync and rename, so that `file` is the
/// old one or the new one, never half of one. Fails: `io`, naming the file and the system's reason; the old
/// file is untouched.
Status save_safetensors(const std::filesystem::path& file, std::span<const NamedTensor> tensors,
                        const std::map<std::string, std::string>& metadata = {});

/// CRC-32 (that of zlib) of `text` and the tensors' numbers, in their order, for a file that says so in its
/// metadata.
std::uint32_t checksum_of(std::span<const NamedTensor> tensors, std::string_view text);

/// A file read whole.
struct SafetensorsFile {
  struct Entry {
    std::string name;
    std::vector<std::size_t> shape;
    std::vector<float> values;
  };
  std::vector<Entry> tensors;
  std::map<std::string, std::string> metadata;

  [[nodiscard]] const Entry* find(const std::string& name) const;
};

/// Fails: `not_found`; `corrupt` (header larger than the file or 100 MB, not JSON, offsets that overlap,
/// leave gaps, run past the end or disagree with shape and type, types other than F32); `io`. Claims are
/// checked before memory is allocated for them: it needs a small multiple of the file's length at most.
Result<SafetensorsFile> load_safetensors(const std::filesystem::path& file);

/// Between the name of an optimizer's state and the parameter it belongs to, in the names of a checkpoint's
/// tensors: "momentum/fc1.weight". No parameter's own name has it.
inline constexpr char state_separator = '/';

/// Copies the tensors that `slots` name from `file` into the flat vector, padding zeroed. The two must have
/// the same tensors, but for the optimizer's state in `file`. Fails: `mismatch`, naming `what` (the file),
/// the tensor, and both shapes or which of the two lacks it; `parameters` are untouched.
Status fill_from(const SafetensorsFile& file, std::span<const Slot> slots, std::span<float> parameters,
                 const std::string& what);

/// The slots of a flat vector as named tensors, padding left out. The result views `parameters`.
std::vector<NamedTensor> tensors_of(std::span<const Slot> slots, std::span<const float> parameters);

}  // namespace thalweg::models
