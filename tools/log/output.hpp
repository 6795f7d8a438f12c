#pragma once

#include "runtime/journal/run_log.hpp"

#include <thalweg/result.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// How answers about a message log look: tables for people, a JSON object a line for programs.
namespace thalweg::log {

/// Where an answer goes, a piece at a time: answers may be long. Fails: as whoever writes it.
using Out = std::function<Status(std::string_view)>;

/// Text that was in a log, on one line: other nodes may have sent anything.
std::string plain(std::string_view text);
/// As a JSON string, quotes included. What is no UTF-8 becomes U+FFFD.
std::string json_text(std::string_view text);

/// "1.234 s", "12.3 ms", "45 us".
std::string time_text(double seconds);

/// Columns as wide as they must be; numbers stand right.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : head_(std::move(head)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::string> head_;
  std::vector<std::vector<std::string>> rows_;
};

/// All rows of a statement: with `json` an object a line, else cells with tabs between, below their names.
Status write_rows(journal::Statement& statement, bool json, const Out& out);

}  // namespace thalweg::log
