#include "runtime/config/call.hpp"

#include "runtime/config/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <system_error>

namespace thalweg::config {
namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

bool is_letter(char letter) { return letter >= 'a' && letter <= 'z'; }

bool is_name(std::string_view text) {
  if (text.empty() || !is_letter(text[0])) return false;
  return std::all_of(text.begin(), text.end(), [](char letter) {
    return is_letter(letter) || (letter >= '0' && letter <= '9') || letter == '_';
  });
}

std::optional<double> number_of(std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc{} || parsed.ptr != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

}  // namespace

Result<Call> parse_call(std::string_view text) {
  const auto refused = [&](std::string_view why) {
    return Error{ErrorCode::invalid, fmt::format("'{}' {}", printable(text), why)};
  };
  const std::string_view whole = trimmed(text);
  const std::size_t open = whole.find('(');
  const std::string_view name = trimmed(whole.substr(0, open));
  if (name.empty()) return refused("names nothing: give a name, as all or stale(3)");
  if (!is_name(name)) {
    return refused("is no name: give small letters, with numbers in brackets, as all or stale(3)");
  }
  Call call{std::string(name), {}};
  if (open == std::string_view::npos) return call;
  if (whole.find(')') != whole.size() - 1) {
    return refused("does not end with its one closing bracket: write it as stale(3)");
  }
  std::string_view rest = whole.substr(open + 1, whole.size() - open - 2);
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = trimmed(rest.substr(0, comma));
    const auto number = number_of(part);
    if (!number) {
      return refused(part.empty() ? "lacks a number in its brackets: give one, or leave them out"
                                  : "holds what is no number in its brackets: write it as stale(3)");
    }
    call.numbers.push_back(*number);
    if (comma == std::string_view::npos) return call;
    rest.remove_prefix(comma + 1);
  }
}

std::string call_text(const Call& call) {
  if (call.numbers.empty()) return call.name;
  std::string numbers;
  for (const double number : call.numbers) {
    numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", number);
  }
  return fmt::format("{}({})", call.name, numbers);
}

}  // namespace thalweg::config
