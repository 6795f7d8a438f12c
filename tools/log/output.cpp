#include "tools/log/output.hpp"

#include "runtime/config/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace thalweg::log {
namespace {

/// Length of the UTF-8 sequence that begins `text`, when it is whole and well-formed; 0: it is not.
std::size_t sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if ((first >= 0x80 && first < 0xc2) || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
  }
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool none = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
  return overlong || none ? 0 : length;
}

std::string cell_text(const journal::Cell& cell) {
  switch (cell.type) {
    case journal::Cell::Type::integer:
      return std::to_string(cell.integer);
    case journal::Cell::Type::real:
      return fmt::format("{}", cell.real);
    case journal::Cell::Type::text:
      return cell.text;
    case journal::Cell::Type::null:
      break;
  }
  return "";
}

std::string cell_json(const journal::Cell& cell) {
  if (cell.type == journal::Cell::Type::null) return "null";
  if (cell.type == journal::Cell::Type::real && !std::isfinite(cell.real)) return "null";
  return cell.type == journal::Cell::Type::text ? json_text(cell.text) : cell_text(cell);
}

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char letter) {
    return (letter >= '0' && letter <= '9') || letter == '.' || letter == '-' || letter == ',';
  });
}

}  // namespace

std::string plain(std::string_view text) { return config::printable(text); }

std::string json_text(std::string_view text) {
  std::string made = "\"";
  while (!text.empty()) {
    const auto length = sequence(text);
    const char letter = text.front();
    if (length == 0) {
      made += "\xef\xbf\xbd";
    } else if (letter == '"' || letter == '\\') {
      made += '\\';
      made += letter;
    } else if (letter == '\n') {
      made += "\\n";
    } else if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f || letter == '<') {
      // '<' as well, so that the text may stand in a script of a page.
      made += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(letter)));
    } else {
      made += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return made + "\"";
}

std::string time_text(double seconds) {
  const double size = std::abs(seconds);
  if (size >= 1) return fmt::format("{:.3f} s", seconds);
  if (size >= 1e-3) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.1f} us", seconds * 1e6);
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (const auto& name : head_) widths.push_back(name.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string made;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) made += "  ";
      made += is_number(cells[i]) ? fmt::format("{:>{}}", cells[i], widths[i])
                                  : fmt::format("{:<{}}", cells[i], widths[i]);
    }
    while (made.ends_with(' ')) made.pop_back();
    return made + "\n";
  };
  std::string all = line(head_);
  for (const auto& row : rows_) all += line(row);
  return all;
}

Status write_rows(journal::Statement& statement, bool json, const Out& out) {
  std::vector<std::string> names;
  std::string line;
  for (int i = 0; i < statement.columns(); ++i) {
    names.push_back(statement.column_name(i));
    line += (i == 0 ? "" : "\t") + plain(names.back());
  }
  if (!json) {
    if (auto written = out(line + "\n"); !written) return written;
  }
  while (true) {
    const auto row = statement.step();
    if (!row) return row.error();
    if (!*row) return {};
    line = json ? "{" : "";
    for (int i = 0; i < statement.columns(); ++i) {
      const auto cell = statement.cell(i);
      if (json) {
        if (cell.type == journal::Cell::Type::null) continue;
        line += (line.size() > 1 ? "," : "") + json_text(names[static_cast<std::size_t>(i)]) + ":" +
                cell_json(cell);
      } else {
        line += (i == 0 ? "" : "\t") + plain(cell_text(cell));
      }
    }
    if (auto written = out(line + (json ? "}\n" : "\n")); !written) return written;
  }
}

}  // namespace thalweg::log
