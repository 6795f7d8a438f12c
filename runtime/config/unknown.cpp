#include "runtime/config/nearest.hpp"
#include "runtime/config/node_keys.hpp"
#include "runtime/config/schema.hpp"
#include "runtime/config/text.hpp"

#include <algorithm>

namespace thalweg::config {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Sections for which `chosen` holds, in the order of the table.
template <class Choice>
std::vector<std::string> sections_where(Choice chosen) {
  std::vector<std::string> names;
  for (const auto& key : all_keys()) {
    if (chosen(key.section) && (names.empty() || names.back() != key.section))
      names.emplace_back(key.section);
  }
  return names;
}

bool is_outer(std::string_view section) { return section.find('.') == std::string_view::npos; }

std::vector<std::string> outer_sections() {
  auto names = sections_where(is_outer);
  names.emplace_back(node_section);
  return names;
}

/// How far a key that somebody wrote is from one that exists. A key in the wrong section is one step off for
/// its section and the rest for its name; where sections are nested, the whole of it may be near, too.
std::size_t distance(std::string_view section, std::string_view name, const Key& key) {
  const std::size_t by_name = name_distance(name, key.name);
  if (section == key.section) return by_name;
  if (is_outer(section) && is_outer(name)) return by_name + 1;
  return std::min(by_name + 1, name_distance(std::string(section) + "." + std::string(name), key.text()));
}

/// The section meant by "sync.lvel": "sync.level.0"; empty when there is none.
std::string nearest_nested(std::string_view section, std::string_view name) {
  const auto nested = sections_where([&](std::string_view one) { return is_nested(one, section); });
  for (const auto& one : nested) {
    const std::string_view rest = std::string_view(one).substr(section.size() + 1);
    if (name_distance(name, rest.substr(0, rest.find('.'))) <= tolerated_distance(name)) return one;
  }
  return {};
}

}  // namespace

std::string unknown_key(std::string_view section, std::string_view name) {
  const std::string written =
      section.empty() ? std::string(name) : std::string(section) + "." + std::string(name);
  const Key* nearest = nullptr;
  std::size_t nearest_distance = tolerated_distance(name) + 1;
  for (const auto& key : all_keys()) {
    if (const std::size_t far = distance(section, name, key); far < nearest_distance) {
      nearest = &key;
      nearest_distance = far;
    }
  }
  const std::string failed = "unknown key '" + printable(written) + "': ";
  // A section of the one that was written is nearer than a key of another.
  const std::string nested = is_section(section) ? nearest_nested(section, name) : "";
  const bool elsewhere =
      nearest == nullptr || (nearest->section != section && !is_nested(nearest->section, section));
  if (!nested.empty() && elsewhere) {
    return failed + "did you mean the section '" + nested + "'?";
  }
  if (nearest != nullptr) return failed + "did you mean '" + nearest->text() + "'?";
  if (!is_section(section)) return failed + "keys stand in the sections " + joined(outer_sections());
  std::vector<std::string> names;
  for (const auto& key : all_keys()) {
    if (key.section == section) names.emplace_back(key.name);
  }
  return failed + "the keys of [" + std::string(section) + "] are " + joined(names);
}

std::string unknown_section(std::string_view name) {
  const std::string failed = "unknown section '" + printable(name) + "': ";
  for (std::string_view outer = name; !is_outer(outer);) {
    outer = outer.substr(0, outer.rfind('.'));
    const auto nested = sections_where([&](std::string_view one) { return is_nested(one, outer); });
    if (!nested.empty()) return failed + "the sections in " + std::string(outer) + " are " + joined(nested);
  }
  const auto sections = outer_sections();
  const std::string nearest = nearest_name(name, sections);
  if (!nearest.empty()) return failed + "did you mean '" + nearest + "'?";
  return failed + "the sections are " + joined(sections);
}

}  // namespace thalweg::config
