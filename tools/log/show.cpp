#include "tools/log/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace thalweg::log {

Result<journal::Statement> select(const journal::RunLog& log, std::string_view columns,
                                  const Filter& filter) {
  std::string where = "1";
  std::vector<std::pair<bool, std::string>> values;  // whether it is text
  const auto text = [&](const char* condition, const std::string& value) {
    if (value.empty()) return;
    where += std::string(" AND ") + condition;
    values.emplace_back(true, value);
  };
  const auto number = [&](const char* condition, const std::optional<std::int64_t>& value) {
    if (!value) return;
    where += std::string(" AND ") + condition;
    values.emplace_back(false, std::to_string(*value));
  };
  text("actor = ?", filter.actor);
  text("node = ?", filter.node);
  text("kind = ?", filter.kind);
  text("type = ?", filter.type);
  text("instr(reason, ?) > 0", filter.reason);
  number("round = ?", filter.round);
  number("iteration = ?", filter.iteration);
  number("bytes >= ?", filter.bytes_min);
  number("n > ?", filter.after);
  if (filter.from_s || filter.to_s) {
    auto first = ask(log, "SELECT min(hlc) FROM records");
    if (!first) return first.error();
    auto row = first->step();
    if (!row) return row.error();
    const auto at = [&](double seconds) {
      return first->integer(0) + (static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e9) * 1e6) << 12);
    };
    if (filter.from_s) number("hlc >= ?", at(*filter.from_s));
    if (filter.to_s) number("hlc < ?", at(*filter.to_s));
  }
  std::string sql = fmt::format("SELECT {} FROM log WHERE {} ORDER BY hlc, n", columns, where);
  if (filter.last) {
    sql = fmt::format(
        "SELECT {} FROM (SELECT * FROM log WHERE {} ORDER BY hlc DESC, n DESC LIMIT {}) ORDER BY hlc, n",
        columns, where, *filter.last);
  }
  if (filter.limit) {
    sql += " LIMIT ?";
    values.emplace_back(false, std::to_string(*filter.limit));
  }
  auto made = log.prepare(sql);
  if (!made) return made;
  int parameter = 0;
  for (const auto& [is_text, value] : values) {
    ++parameter;
    if (is_text) {
      made->bind(parameter, std::string_view(value));
    } else {
      made->bind(parameter, static_cast<std::int64_t>(std::stoll(value)));
    }
  }
  return made;
}

Result<journal::Statement> ask(const journal::RunLog& log, std::string_view sql,
                               std::initializer_list<std::int64_t> numbers) {
  auto made = log.prepare(sql);
  if (!made) return made;
  int parameter = 0;
  for (const auto number : numbers) made->bind(++parameter, number);
  return made;
}

Status list(const journal::RunLog& log, bool json, const Out& out) {
  constexpr const char* sql =
      "SELECT node, actor, count(*) AS records, sum(type = 'message') AS messages, sum(bytes) AS bytes, "
      "round(min(at_s), 6) AS first_s, round(max(at_s), 6) AS last_s FROM log GROUP BY node, actor ORDER BY "
      "node, first_s";
  auto asked = ask(log, sql);
  if (!asked) return asked.error();
  if (json) return write_rows(*asked, true, out);
  Table table({"node", "actor", "records", "messages", "bytes", "first", "last"});
  std::int64_t records = 0;
  std::map<std::string, std::size_t> nodes;
  double span = 0;
  while (true) {
    const auto row = asked->step();
    if (!row) return row.error();
    if (!*row) break;
    table.add({plain(asked->text(0)), plain(asked->text(1)), std::to_string(asked->integer(2)),
               std::to_string(asked->integer(3)), std::to_string(asked->integer(4)),
               fmt::format("{:.3f} s", asked->real(5)), fmt::format("{:.3f} s", asked->real(6))});
    records += asked->integer(2);
    ++nodes[asked->text(0)];
    span = std::max(span, asked->real(6));
  }
  if (auto written = out(table.text()); !written) return written;
  return out(fmt::format("{} records of {} nodes over {:.3f} s\n", records, nodes.size(), span));
}

Result<std::int64_t> show(const journal::RunLog& log, const Filter& filter, bool json, const Out& out) {
  constexpr const char* columns =
      "n, at_s, node, actor, type, kind, sender, whom, id, cause, term, round, version, iteration, samples, "
      "bytes, "
      "span_s, queue_s, took_s, reason, wall";
  auto asked = select(log, columns, filter);
  if (!asked) return asked.error();
  std::int64_t last = filter.after.value_or(0);
  if (json) {
    if (auto written = write_rows(*asked, true, out); !written) return written.error();
    return last;
  }
  while (true) {
    const auto row = asked->step();
    if (!row) return row.error();
    if (!*row) return last;
    last = std::max(last, asked->integer(0));
    const std::string type = asked->text(4);
    std::string line =
        fmt::format("{:12.6f} {:>10}/{:<9} ", asked->real(1), plain(asked->text(2)), plain(asked->text(3)));
    if (type == "message") {
      line += fmt::format("{} from {} [{}]", asked->text(5), plain(asked->text(6)), asked->text(8));
    } else if (type == "decision") {
      line += "decides";
    } else if (type == "dropped") {
      line += "log";
    } else {
      line += fmt::format("{} for {}, {}", type == "wait" ? "waited" : "waits", plain(asked->text(7)),
                          time_text(asked->real(18)));
    }
    constexpr std::pair<int, const char*> numbers[] = {
        {11, "round"}, {12, "version"}, {13, "iterations"}, {14, "samples"}, {15, "bytes"}};
    for (const auto& [column, name] : numbers) {
      if (!asked->is_null(column) && type == "message")
        line += fmt::format(" {} {}", name, asked->integer(column));
    }
    if (!asked->is_null(16)) line += " computed " + time_text(asked->real(16));
    if (!asked->is_null(19)) line += ": " + plain(asked->text(19));
    if (auto written = out(line + "\n"); !written) return written.error();
  }
}

}  // namespace thalweg::log
