#include "models/safetensors_header.hpp"

#include "runtime/config/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace thalweg::models {
namespace {

constexpr const char* metadata_key = "__metadata__";

Error corrupt(const std::string& why, const char* remedy = safetensors_remedy) {
  return {ErrorCode::corrupt, why + ": " + remedy};
}

/// Takes the parser's events and allows only those that a header may have: an object of objects. No tree is
/// built, so depth and size of foreign JSON cost nothing.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  SafetensorsHeader header;
  std::string why;  ///< after a refusal

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a truth value"); }
  bool number_integer(number_integer_t) override { return unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t&) override {
    return unexpected("a fractional or huge number");
  }
  bool binary(binary_t&) override { return unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ == Place::shape) {
      entry_.shape.push_back(value);
      return true;
    }
    if (place_ != Place::offsets) return unexpected("a number");
    if (offsets_ == 2) return refuse(fmt::format("data_offsets of {} holds more than two numbers", tensor()));
    (offsets_++ == 0 ? entry_.begin : entry_.end) = value;
    return true;
  }

  bool string(string_t& value) override {
    if (place_ == Place::metadata) {
      if (header.metadata.try_emplace(key_, std::move(value)).second) return true;
      return refuse(fmt::format("its metadata have {} twice", printable(key_)));
    }
    if (place_ != Place::tensor || key_ != "dtype") return unexpected("a string");
    entry_.type = std::move(value);
    return true;
  }

  bool start_object(std::size_t) override {
    if (place_ == Place::start) {
      place_ = Place::top;
      return true;
    }
    if (place_ != Place::top) return unexpected("an object");
    if (key_ == metadata_key) {
      if (std::exchange(metadata_seen_, true))
        return refuse(fmt::format("its header has {} twice", metadata_key));
      place_ = Place::metadata;
      return true;
    }
    entry_ = {};
    entry_.name = std::move(key_);
    type_seen_ = shape_seen_ = offsets_seen_ = false;
    place_ = Place::tensor;
    return true;
  }

  bool key(string_t& value) override {
    key_ = std::move(value);
    if (place_ != Place::tensor) return true;
    bool* seen = key_ == "dtype"          ? &type_seen_
                 : key_ == "shape"        ? &shape_seen_
                 : key_ == "data_offsets" ? &offsets_seen_
                                          : nullptr;
    if (!seen)
      return refuse(fmt::format("{} has a field {}: expected dtype, shape and data_offsets alone", tensor(),
                                printable(key_)));
    if (std::exchange(*seen, true)) {
      return refuse(fmt::format("{} has its {} twice", tensor(), key_));
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor) {
      if (!type_seen_ || !shape_seen_ || !offsets_seen_) {
        const char* lacks = !type_seen_ ? "dtype" : !shape_seen_ ? "shape" : "data_offsets";
        return refuse(fmt::format("{} has no {}", tensor(), lacks));
      }
      header.entries.push_back(std::move(entry_));
    }
    place_ = place_ == Place::top ? Place::end : Place::top;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::tensor || (key_ != "shape" && key_ != "data_offsets")) return unexpected("an array");
    place_ = key_ == "shape" ? Place::shape : Place::offsets;
    offsets_ = 0;
    return true;
  }

  bool end_array() override {
    if (place_ == Place::offsets && offsets_ != 2) {
      return refuse(fmt::format("data_offsets of {} holds {} of two numbers", tensor(), offsets_));
    }
    place_ = Place::tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return refuse(fmt::format("its header is no JSON from byte {} on", position));
  }

 private:
  enum class Place { start, top, metadata, tensor, shape, offsets, end };

  bool refuse(std::string reason) {
    why = std::move(reason);
    return false;
  }
  bool unexpected(const char* what) {
    switch (place_) {
      case Place::metadata:
        return refuse(fmt::format("{} in its metadata is {}: expected text", printable(key_), what));
      case Place::tensor:
        return refuse(fmt::format("{} of {} is {}: expected {}", printable(key_), tensor(), what,
                                  key_ == "dtype" ? "text" : "an array of whole numbers"));
      case Place::shape:
      case Place::offsets:
        return refuse(
            fmt::format("{} of {} holds {}: expected whole numbers", printable(key_), tensor(), what));
      default:
        return refuse(
            fmt::format("{} in its header is {}: expected {}", printable(key_), what,
                        key_ == metadata_key ? "texts by name" : "a tensor's dtype, shape and data_offsets"));
    }
  }
  [[nodiscard]] std::string tensor() const { return "tensor " + printable(entry_.name); }

  Place place_ = Place::start;
  std::string key_;
  SafetensorsHeader::Entry entry_;
  std::size_t offsets_ = 0;
  bool metadata_seen_ = false;
  bool type_seen_ = false;
  bool shape_seen_ = false;
  bool offsets_seen_ = false;
};

/// Bytes of an F32 tensor of this shape; none when they cannot be counted in 64 bits.
std::optional<std::uint64_t> bytes_of(const std::vector<std::size_t>& shape) {
  if (std::ranges::find(shape, std::size_t{0}) != shape.end()) return 0;
  std::uint64_t bytes = sizeof(float);
  for (const std::size_t dim : shape) {
    if (bytes > std::numeric_limits<std::uint64_t>::max() / dim) return std::nullopt;
    bytes *= dim;
  }
  return bytes;
}

Status check_entry(const SafetensorsHeader::Entry& entry, std::uint64_t data_bytes) {
  const std::string name = printable(entry.name);
  if (entry.type != "F32") {
    return corrupt(fmt::format("tensor {} has type {}, and only F32 is read", name, printable(entry.type)),
                   "save it as float32");
  }
  if (entry.begin > entry.end || entry.end > data_bytes) {
    return corrupt(fmt::format("tensor {} lies at bytes {} to {} of its data, which have {}", name,
                               entry.begin, entry.end, data_bytes));
  }
  const auto bytes = bytes_of(entry.shape);
  if (!bytes || *bytes != entry.end - entry.begin) {
    return corrupt(fmt::format("tensor {} has {} bytes, and its shape {} takes {}", name,
                               entry.end - entry.begin, shape_text(entry.shape),
                               bytes ? std::to_string(*bytes) : "more than can be counted"));
  }
  return {};
}

/// Positions of the entries, sorted by `less` of two entries.
std::vector<std::size_t> sorted(const std::vector<SafetensorsHeader::Entry>& entries, const auto& less) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return less(entries[a], entries[b]); });
  return order;
}

}  // namespace

Result<SafetensorsHeader> parse_header(std::string_view json) {
  if (!json.starts_with('{')) return corrupt("its header is no JSON object: expected { first");
  HeaderReader reader;
  if (!nlohmann::json::sax_parse(json.begin(), json.end(), &reader)) return corrupt(reader.why);
  return std::move(reader.header);
}

Status check_header(const SafetensorsHeader& header, std::uint64_t data_bytes) {
  const auto& entries = header.entries;
  for (const auto& entry : entries) {
    if (auto status = check_entry(entry, data_bytes); !status) return status;
  }
  const auto by_name = sorted(entries, [](const auto& a, const auto& b) { return a.name < b.name; });
  for (std::size_t i = 1; i < by_name.size(); ++i) {
    if (entries[by_name[i - 1]].name == entries[by_name[i]].name) {
      return corrupt(fmt::format("tensor {} comes twice", printable(entries[by_name[i]].name)));
    }
  }
  std::uint64_t covered = 0;
  for (const std::size_t index : sorted(entries, [](const auto&a, const auto&b) {
         return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
       })) {
    const auto& entry = entries[index];
    if (entry.begin != covered) {
      return corrupt(fmt::format(
          "tensor {} begins at byte {}, {} at byte {}", printable(entry.name), entry.begin,
          entry.begin < covered ? "inside a tensor that ends" : "after a gap that begins", covered));
    }
    covered = entry.end;
  }
  if (covered != data_bytes)
    return corrupt(
        fmt::format("{} bytes follow its last tensor: expected its end there", data_bytes - covered));
  return {};
}

std::string print_header(const SafetensorsHeader& header) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!header.metadata.empty()) json[metadata_key] = header.metadata;
  for (const auto& entry : header.entries) {
    json[entry.name] = {
        {"dtype", entry.type}, {"shape", entry.shape}, {"data_offsets", {entry.begin, entry.end}}};
  }
  // What is not UTF-8 is replaced: JSON cannot say it, and nothing is thrown.
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string printable(std::string_view name) {
  constexpr std::size_t length_max = 80;
  if (name.size() <= length_max) return config::printable(name);
  // Cut between characters: 10xxxxxx is the inside of one.
  std::size_t length = length_max;
  while (length > 0 && (static_cast<unsigned char>(name[length]) & 0xc0U) == 0x80U) --length;
  return config::printable(name.substr(0, length)) + "...";
}

std::string shape_text(const std::vector<std::size_t>& shape) {
  constexpr std::size_t shown_max = 8;
  const auto shown = std::span(shape).first(std::min(shape.size(), shown_max));
  return fmt::format("[{}{}]", fmt::join(shown, ", "), shape.size() > shown_max ? ", ..." : "");
}

}  // namespace thalweg::models
