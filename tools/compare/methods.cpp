#include "tools/compare/methods.hpp"

#include "runtime/config/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace thalweg::compare {
namespace {

constexpr std::array<std::string_view, 6> fixed_sections = {"run.",  "model.", "data.",
                                                            "eval.", "stop.",  "emulate."};
constexpr std::array<std::string_view, 3> fixed_keys = {"train.epochs", "train.steps", "sync.method"};

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t") + 1 - first));
}

/// A method is the same whatever spaces it is written with.
std::string without_spaces(std::string text) {
  std::erase_if(text, [](char letter) { return letter == ' ' || letter == '\t'; });
  return text;
}

bool changes_the_job(std::string_view key) {
  return std::ranges::any_of(fixed_sections, [&](auto section) { return key.starts_with(section); }) ||
         std::ranges::find(fixed_keys, key) != fixed_keys.end();
}

Error wrong_with(const std::string& text, std::string_view why) {
  return {ErrorCode::invalid, fmt::format("--with {}: {}", text, why)};
}

Status check_methods(const std::vector<std::string>& methods) {
  if (methods.empty()) {
    return Error{ErrorCode::invalid, "--methods '': names none: write, for example, --methods ssgd,asp"};
  }
  for (std::size_t i = 0; i < methods.size(); ++i) {
    if (methods[i].empty()) {
      return Error{
          ErrorCode::invalid,
          "--methods: an empty name: put one comma between two methods, for example --methods ssgd,asp"};
    }
    if (std::find(methods.begin(), methods.begin() + static_cast<std::ptrdiff_t>(i), methods[i]) !=
        methods.begin() + static_cast<std::ptrdiff_t>(i)) {
      return Error{ErrorCode::invalid,
                   fmt::format("--methods: {} is named twice: name each once", methods[i])};
    }
  }
  return {};
}

Status check_owners(const std::vector<std::string>& methods, const std::vector<OwnSettings>& own) {
  for (const OwnSettings& each : own) {
    if (std::ranges::find(methods, each.method) != methods.end()) continue;
    const std::string near = nearest_name(each.method, methods);
    return Error{ErrorCode::invalid,
                 fmt::format("--with {}: is not among the methods: {}", each.method,
                             near.empty() ? "add it to --methods" : fmt::format("did you mean {}?", near))};
  }
  return {};
}

}  // namespace

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  if (trimmed(text).empty()) return parts;
  std::size_t begin = 0;
  int depth = 0;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (quote != 0) {
      if (letter == quote) quote = 0;
    } else if (letter == '"' || letter == '\'') {
      quote = letter;
    } else if (letter == '(' || letter == '[' || letter == '{') {
      ++depth;
    } else if (letter == ')' || letter == ']' || letter == '}') {
      --depth;
    } else if (letter == ',' && depth <= 0) {
      parts.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  parts.push_back(trimmed(text.substr(begin)));
  return parts;
}

Result<OwnSettings> parse_with(const std::string& text) {
  const auto colon = text.find(':');
  OwnSettings own;
  own.method = without_spaces(text.substr(0, std::min(colon, text.size())));
  if (colon == std::string::npos || own.method.empty()) {
    return wrong_with(text, "no METHOD:KEY=VALUE: write, for example, --with 'inhad(2):train.lr=0.1'");
  }
  for (const std::string& part : split_list(std::string_view(text).substr(colon + 1))) {
    const auto equals = part.find('=');
    const std::string key = trimmed(part.substr(0, std::min(equals, part.size())));
    if (equals == std::string::npos || key.find('.') == std::string::npos) {
      return wrong_with(text, fmt::format("'{}' is no SECTION.KEY=VALUE: write, for example, "
                                          "train.lr=0.1,train.momentum=0",
                                          part));
    }
    if (changes_the_job(key)) {
      return wrong_with(
          text, fmt::format("{} is the same for all methods: set it with --set, or leave it out", key));
    }
    own.settings.push_back({key, trimmed(part.substr(equals + 1))});
  }
  if (own.settings.empty()) return wrong_with(text, "sets nothing: add KEY=VALUE, for example train.lr=0.1");
  return own;
}

Result<std::vector<Contestant>> make_contestants(const std::string& methods,
                                                 const std::vector<OwnSettings>& own, bool equal) {
  std::vector<std::string> names = split_list(methods);
  std::ranges::transform(names, names.begin(), without_spaces);
  if (Status fine = check_methods(names); !fine) return fine.error();
  if (Status fine = check_owners(names, own); !fine) return fine.error();

  std::vector<Contestant> contestants;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Contestant contestant{names[i], names[i], {}, i, false};
    for (const OwnSettings& each : own) {
      if (each.method != names[i]) continue;
      contestant.own.insert(contestant.own.end(), each.settings.begin(), each.settings.end());
    }
    contestants.push_back(contestant);
    if (contestant.own.empty() || !equal) continue;
    contestants.push_back({names[i] + ", equal settings", names[i], {}, i, true});
  }
  return contestants;
}

std::string folder_name(const Contestant& contestant, std::uint64_t seed) {
  std::string name;
  for (const char letter : contestant.method) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0;
    if (plain) {
      name += letter;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (name.ends_with('_')) name.pop_back();
  return fmt::format("{}{}-seed{}", name, contestant.equal ? "-equal" : "", seed);
}

std::vector<std::size_t> running_order(std::size_t contestants, std::size_t seed_index) {
  std::vector<std::size_t> order(contestants);
  for (std::size_t i = 0; i < contestants; ++i) order[i] = (i + seed_index) % contestants;
  return order;
}

}  // namespace thalweg::compare
