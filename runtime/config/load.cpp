#include "runtime/config/draft.hpp"
#include "runtime/config/node_keys.hpp"
#include "runtime/config/schema.hpp"
#include "runtime/config/text.hpp"
#include "runtime/config/value.hpp"

#include <thalweg/config.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

// The only file that includes toml++, which takes seconds to compile.
#include <toml++/toml.h>

namespace thalweg {
namespace config {
namespace {

constexpr std::size_t file_bytes_max = 1 << 20;

/// toml++ makes a table for each dot of a key and takes them apart one inside the other, so that a key of
/// half a million dots ends the program. No job has this many dots in all.
constexpr std::ptrdiff_t dots_max = 4000;

bool has_too_many_dots(std::string_view text) { return std::count(text.begin(), text.end(), '.') > dots_max; }

/// What toml++ calls the types that no key has.
std::string foreign_kind(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::date:
      return "a date";
    case toml::node_type::time:
      return "a time";
    case toml::node_type::date_time:
      return "a date and time";
    default:
      return "something else";
  }
}

Value value_of(const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return {flag->get()};
  if (const auto* number = node.as_integer()) return {number->get()};
  if (const auto* number = node.as_floating_point()) return {number->get()};
  if (const auto* text = node.as_string()) return {text->get()};
  if (const auto* array = node.as_array()) {
    std::vector<Value> values;
    values.reserve(array->size());
    for (const auto& element : *array) values.push_back(value_of(element));
    return {std::move(values)};
  }
  if (const auto* table = node.as_table()) {
    std::vector<Entry> entries;
    entries.reserve(table->size());
    for (const auto& [key, value] : *table) entries.push_back({std::string(key.str()), value_of(value)});
    return {std::move(entries)};
  }
  return {Foreign{foreign_kind(node)}};
}

/// toml++'s description as the middle of a sentence, with the advice that fits its most frequent cause.
std::string syntax_text(const toml::parse_error& error) {
  std::string text(error.description());
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  if (text.ends_with("could not determine value type")) text += ": put text in quotes";
  // It quotes what it could not read, whatever that is.
  return "not TOML: " + printable(text);
}

using Found = std::vector<std::pair<toml::source_position, Setting>>;

/// Adds the blocks of [[node]], or whatever else is called so.
void add_nodes(const toml::key& name, const toml::node& node, const std::string& file, Found& found) {
  std::optional<std::size_t> index;
  const auto add = [&](toml::source_position at, std::string_view key, Value value) {
    const Origin origin = {Source::file, fmt::format("{}:{}", file, at.line)};
    found.emplace_back(
        at, Setting{std::string(node_section), std::string(key), "", std::move(value), origin, index});
  };
  if (!node.is_array_of_tables()) return add(name.source().begin, "", value_of(node));
  for (const auto& block : *node.as_array()) {
    index = index ? *index + 1 : 0;
    add(block.source().begin, "", {});
    for (const auto& [key, inner] : *block.as_table()) add(key.source().begin, key.str(), value_of(inner));
  }
}

/// Adds what stands in `table`, which is the section `outer`, or the whole file when that is empty.
void add_settings(const std::string& outer, const toml::table& table, const std::string& file, Found& found) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (outer.empty() && name == node_section) {
      add_nodes(key, node, file, found);
      continue;
    }
    const std::string inner = outer.empty() ? name : outer + "." + name;
    const bool leads_to_sections = !first_section(inner).empty();
    if (node.is_table() && leads_to_sections) {
      add_settings(inner, *node.as_table(), file, found);
      continue;
    }
    const bool misplaced =
        leads_to_sections || (!is_section(outer) && (node.is_table() || node.is_array_of_tables()));
    const auto position = key.source().begin;
    found.emplace_back(position, Setting{misplaced ? inner : outer,
                                         misplaced ? "" : name,
                                         "",
                                         value_of(node),
                                         {Source::file, fmt::format("{}:{}", file, position.line)}});
  }
}

/// The settings of a job file in the order in which they stand there: toml++ sorts tables by name, and of
/// several errors the first one in the file is to be reported.
std::vector<Setting> settings_of(const toml::table& root, const std::string& file) {
  Found found;
  add_settings("", root, file, found);
  std::stable_sort(found.begin(), found.end(), [](const auto& one, const auto& other) {
    return std::pair(one.first.line, one.first.column) < std::pair(other.first.line, other.first.column);
  });
  std::vector<Setting> settings;
  settings.reserve(found.size());
  for (auto& [position, setting] : found) settings.push_back(std::move(setting));
  return settings;
}

Result<std::string> read_file(const std::filesystem::path& path) {
  const std::string failed = "cannot read job file " + path.string() + ": ";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return Error{ErrorCode::not_found, failed + "it does not exist: check the path"};
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string text(file_bytes_max + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (std::filesystem::is_directory(path, ignored)) {
    return Error{ErrorCode::io, failed + "it is a folder: give the file in it"};
  }
  if (!in.eof() && in.gcount() == 0) {
    const std::string why = errno == 0 ? "reading failed" : std::strerror(errno);
    return Error{ErrorCode::io, failed + why + ": check its permissions"};
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > file_bytes_max) {
    return Error{ErrorCode::invalid, failed + "it is larger than 1 MiB: give a job file"};
  }
  return text;
}

/// toml++ reports what it cannot read by throwing; this is as far as that goes.
std::variant<toml::table, toml::parse_error> parse(std::string_view text) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    return error;
  }
}

Status apply_text(Draft& draft, std::string_view text, const std::string& name) {
  if (has_too_many_dots(text)) {
    return Error{ErrorCode::invalid,
                 fmt::format("cannot read job file {}: it holds more than {} dots, as keys "
                             "nested without end do: give a job file",
                             name, dots_max)};
  }
  const auto parsed = parse(text);
  if (const auto* error = std::get_if<toml::parse_error>(&parsed)) {
    return Error{ErrorCode::invalid,
                 fmt::format("{}:{}: {}", name, error->source().begin.line, syntax_text(*error))};
  }
  for (const auto& setting : settings_of(std::get<toml::table>(parsed), name)) {
    if (auto applied = draft.apply(setting); !applied) return applied;
  }
  return {};
}

Status apply_file(Draft& draft, const std::filesystem::path& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  return apply_text(draft, *text, path.string());
}

bool is_whole_number(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// What a flag's text means: a TOML value, or else the text itself. For a key that takes a string it is the
/// text unless it stands in quotes, so that `--out 2024` names a folder.
Value flag_value(const std::string& text, bool wants_string) {
  if (has_too_many_dots(text)) return {text};
  const auto parsed = parse("value = " + text);
  const auto* table = std::get_if<toml::table>(&parsed);
  if (table != nullptr && table->size() == 1) {  // a line break could smuggle in more keys
    Value value = value_of(*table->get("value"));
    if (!wants_string || std::holds_alternative<std::string>(value.held)) return value;
  }
  if (!wants_string && is_whole_number(text)) return {Foreign{"one that does not fit in 64 bits"}};
  return {text};
}

/// The parts of "sync.level.1.trigger": the longest section that it begins with, or else all up to its first
/// dot, and the key in it.
std::pair<std::string, std::string> section_and_name(const std::string& key) {
  for (auto dot = key.rfind('.'); dot != std::string::npos && dot > 0; dot = key.rfind('.', dot - 1)) {
    if (is_section(key.substr(0, dot))) return {key.substr(0, dot), key.substr(dot + 1)};
  }
  const auto dot = key.find('.');
  if (dot == std::string::npos) return {"", key};
  return {key.substr(0, dot), key.substr(dot + 1)};
}

Status apply_flag(Draft& draft, const Override& flag) {
  Setting setting;
  std::tie(setting.section, setting.key) = section_and_name(flag.key);
  const bool by_set = flag.flag.empty() || flag.flag == "--set";
  const std::string place =
      printable(by_set ? fmt::format("--set {}={}", flag.key, flag.value) : flag.flag + " " + flag.value);
  if (setting.key.empty()) {
    return Error{ErrorCode::invalid, place + ": no key is named: give section.key=value"};
  }
  Config types;
  if (const auto dot = setting.key.find('.'); dot != std::string::npos) {
    const Key* table = find_key(setting.section, setting.key.substr(0, dot));
    if (table != nullptr && std::holds_alternative<Factors*>(table->field(types))) {
      setting.entry = setting.key.substr(dot + 1);
      setting.key.resize(dot);
    }
  }
  const Key* key = find_key(setting.section, setting.key);
  const bool wants_string = key != nullptr && std::holds_alternative<std::string*>(key->field(types));
  setting.value = flag_value(flag.value, wants_string);
  setting.origin = {Source::flag, place};
  return draft.apply(setting);
}

}  // namespace
}  // namespace config

Result<Config> load_config(const std::filesystem::path& file, const std::vector<Override>& overrides) {
  config::Draft draft;
  if (!file.empty()) {
    if (auto applied = config::apply_file(draft, file); !applied) return applied.error();
  }
  for (const auto& flag : overrides) {
    if (auto applied = config::apply_flag(draft, flag); !applied) return applied.error();
  }
  return draft.finish();
}

Result<Config> read_config(std::string_view text, const std::string& name) {
  config::Draft draft;
  if (auto applied = config::apply_text(draft, text, name); !applied) return applied.error();
  return draft.finish();
}

}  // namespace thalweg
