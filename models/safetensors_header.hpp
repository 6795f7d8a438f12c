#pragma once

#include <thalweg/result.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// The JSON header of a safetensors file, apart from the file: text in, entries out, and back.
namespace thalweg::models {

struct SafetensorsHeader {
  struct Entry {
    std::string name;
    std::string type;  ///< "F32"
    std::vector<std::size_t> shape;
    std::uint64_t begin = 0;  ///< in the data, which begin where the header ends
    std::uint64_t end = 0;
  };
  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;
};

/// What to do about a file that is no sound safetensors file; ends messages about those.
inline constexpr const char* safetensors_remedy = "copy it again, or save it as safetensors";

/// Reads what `json` says and judges its form; whether offsets and shapes make sense is `check_header`'s
/// part. Needs memory in proportion to `json`, however it is nested. Fails: `corrupt`, saying what, at which
/// byte where that helps, and what to do; the text does not name the file.
Result<SafetensorsHeader> parse_header(std::string_view json);

/// Fails: `corrupt` unless every entry is F32, has as many bytes as its shape says, no name comes twice, and
/// the entries cover `data_bytes` without gap or overlap. The text says what to do, and does not name the
/// file.
Status check_header(const SafetensorsHeader& header, std::uint64_t data_bytes);

/// One line of JSON: metadata first when there are any, then the entries in their order.
std::string print_header(const SafetensorsHeader& header);

/// `name` for an error's text: names come from files, so control characters and length are tamed.
std::string printable(std::string_view name);

/// "[6, 1, 5, 5]"
std::string shape_text(const std::vector<std::size_t>& shape);

}  // namespace thalweg::models
