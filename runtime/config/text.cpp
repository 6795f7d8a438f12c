#include "runtime/config/text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace thalweg::config {
namespace {

bool is_control(unsigned char byte) { return byte < 0x20 || byte == 0x7f; }

/// Bytes of the UTF-8 sequence that `text` begins with; 0 when it begins with none. (RFC 3629: shortest
/// form only, no surrogates, nothing above U+10FFFF.) Not for U+0080 to U+009F: terminals obey those as
/// controls.
std::size_t sequence_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const std::size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  std::uint32_t point = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0U) != 0x80U) return 0;
    point = point << 6 | (byte & 0x3fU);
  }
  const bool too_long = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  const bool surrogate = point >= 0xd800 && point < 0xe000;
  const bool control = length == 2 && point < 0xa0;
  return too_long || surrogate || control || point > 0x10ffff ? 0 : length;
}

}  // namespace

bool is_plain_text(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0 || is_control(static_cast<unsigned char>(text[0]))) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string string_text(std::string_view text) {
  std::string line = "\"";
  for (const char letter : text) {
    if (is_control(static_cast<unsigned char>(letter))) {
      line += fmt::format("\\u{:04X}", static_cast<unsigned>(letter));
      continue;
    }
    if (letter == '"' || letter == '\\') line += '\\';
    line += letter;
  }
  return line + "\"";
}

std::string printable(std::string_view text) {
  if (is_plain_text(text)) return std::string(text);
  std::string shown;
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text[0]);
    const std::size_t length = is_control(byte) ? 0 : sequence_length(text);
    shown += length == 0 ? fmt::format("\\x{:02x}", byte) : std::string(text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return shown;
}

bool is_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  std::uint16_t number = 0;
  const auto parsed = std::from_chars(port.data(), port.data() + port.size(), number);
  if (parsed.ec != std::errc{} || parsed.ptr != port.data() + port.size()) return false;
  const bool brackets = host.starts_with('[') && host.ends_with(']');
  if (brackets) host = host.substr(1, host.size() - 2);
  return !host.empty() && brackets == (host.find(':') != std::string_view::npos) &&
         host.find_first_of("[] /") == std::string_view::npos;
}

std::string real_text(double number) {
  std::string text = fmt::format("{}", number);
  // An integer would read back as the same number, but a float shows what kind of number belongs here.
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

namespace {

struct DurationUnit {
  std::string_view name;
  std::int64_t milliseconds;
};
constexpr DurationUnit duration_units[] = {{"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}};

}  // namespace

std::optional<std::chrono::milliseconds> read_duration(std::string_view text) {
  constexpr double longest = 10.0 * 366 * 24 * 3'600'000;
  double number = 0;
  const auto parsed =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (parsed.ec != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  for (const auto& unit : duration_units) {
    if (unit.name != text) continue;
    const double whole = std::round(number * static_cast<double>(unit.milliseconds));
    // Written so that NaN is refused, too.
    if (!(whole >= 0 && whole <= longest)) return std::nullopt;
    return std::chrono::milliseconds{static_cast<std::int64_t>(whole)};
  }
  return std::nullopt;
}

std::string duration_text(std::chrono::milliseconds duration) {
  for (const auto& [name, milliseconds] : duration_units) {
    if (duration.count() == 0 || duration.count() % milliseconds != 0) continue;
    return fmt::format("{}{}", duration.count() / milliseconds, name);
  }
  return "0s";
}

}  // namespace thalweg::config
