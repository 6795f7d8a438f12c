#include "tools/log/selection.hpp"
#include "tools/log/timeline_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace thalweg::log {
namespace {

std::string html(std::string_view text) {
  std::string made;
  for (const char letter : plain(text)) {
    switch (letter) {
      case '&':
        made += "&amp;";
        break;
      case '<':
        made += "&lt;";
        break;
      case '>':
        made += "&gt;";
        break;
      default:
        made += letter;
    }
  }
  return made;
}

/// Texts that occur again and again, by number.
class Words {
 public:
  std::size_t number(const std::string& text) {
    const auto [found, fresh] = numbers_.try_emplace(text, all_.size());
    if (fresh) all_.push_back(text);
    return found->second;
  }
  [[nodiscard]] std::string json() const {
    std::string made = "[";
    for (std::size_t i = 0; i < all_.size(); ++i) made += (i == 0 ? "" : ",") + json_text(all_[i]);
    return made + "]";
  }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<std::string> all_;
};

/// Lanes in an order that people look for: who decides first, then groups, then workers.
int rank(const std::string& actor) {
  if (actor == "root") return 0;
  if (actor.starts_with('g') && actor.size() > 1 && std::isdigit(static_cast<unsigned char>(actor[1])) != 0)
    return 1;
  if (actor.starts_with('w') && actor.size() > 1 && std::isdigit(static_cast<unsigned char>(actor[1])) != 0)
    return 2;
  return 3;
}
std::pair<int, std::pair<std::size_t, std::string>> lane_key(const std::string& lane) {
  const auto actor = lane.substr(lane.find('/') + 1);
  return {rank(actor), {actor.size(), actor}};
}

/// One number a column and record, so that the page parses a million of them in a second.
struct Columns {
  std::string lane, type, at, took, word, id, cause, who, round;
  bool first = true;
  void add(std::size_t on, int what, std::int64_t at_us, std::int64_t took_us, std::size_t text,
           std::size_t message, std::size_t because, std::size_t other, std::int64_t number) {
    const char* comma = first ? "" : ",";
    first = false;
    fmt::format_to(std::back_inserter(lane), "{}{}", comma, on);
    fmt::format_to(std::back_inserter(type), "{}{}", comma, what);
    fmt::format_to(std::back_inserter(at), "{}{}", comma, at_us);
    fmt::format_to(std::back_inserter(took), "{}{}", comma, took_us);
    fmt::format_to(std::back_inserter(word), "{}{}", comma, text);
    fmt::format_to(std::back_inserter(id), "{}{}", comma, message);
    fmt::format_to(std::back_inserter(cause), "{}{}", comma, because);
    fmt::format_to(std::back_inserter(who), "{}{}", comma, other);
    fmt::format_to(std::back_inserter(round), "{}{}", comma, number);
  }
};

}  // namespace

Status write_timeline(const journal::RunLog& log, const std::string& title, const std::string& metrics,
                      const Out& out) {
  auto lanes_asked = ask(log, "SELECT DISTINCT node || '/' || actor FROM log WHERE actor IS NOT NULL");
  if (!lanes_asked) return lanes_asked.error();
  std::vector<std::string> lanes;
  while (true) {
    const auto row = lanes_asked->step();
    if (!row) return row.error();
    if (!*row) break;
    lanes.push_back(lanes_asked->text(0));
  }
  std::sort(lanes.begin(), lanes.end(),
            [](const auto& a, const auto& b) { return lane_key(a) < lane_key(b); });
  std::map<std::string, std::size_t> lane_of;
  for (std::size_t i = 0; i < lanes.size(); ++i) lane_of[lanes[i]] = i;

  auto asked = ask(log,
                   "SELECT node || '/' || actor, type, at_s, took_s, span_s, kind, id, cause, sender, whom, "
                   "round, version, "
                   "samples, bytes, reason FROM log WHERE type <> 'dropped' ORDER BY hlc, n");
  if (!asked) return asked.error();
  Words words, names;
  (void)names.number("");                                 // nobody
  std::unordered_map<std::string, std::size_t> messages;  // ids by number, 0: none
  std::string ids = "[\"\"";
  const auto id_number = [&](const std::string& id) -> std::size_t {
    if (id.empty() || id == "n0.a0.0") return 0;
    const auto [found, fresh] = messages.try_emplace(id, messages.size() + 1);
    if (fresh) ids += ",\"" + id + "\"";
    return found->second;
  };
  Columns columns;
  std::string rounds;
  while (true) {
    const auto row = asked->step();
    if (!row) return row.error();
    if (!*row) break;
    const auto lane = lane_of.find(asked->text(0));
    if (lane == lane_of.end()) continue;
    const auto type = asked->text(1), kind = asked->text(5);
    const auto at_us = static_cast<std::int64_t>(std::llround(asked->real(2) * 1e6));
    const auto took_us = static_cast<std::int64_t>(std::llround(asked->real(3) * 1e6));
    const auto round = asked->is_null(10) ? -1 : asked->integer(10);
    const auto reason = asked->text(14);
    if (type == "message") {
      std::string text = kind + (reason.empty() ? "" : ": " + reason);
      columns.add(lane->second, 0, at_us, took_us, words.number(text), id_number(asked->text(6)),
                  id_number(asked->text(7)), names.number(asked->text(8)), round);
      const auto span_us = static_cast<std::int64_t>(std::llround(asked->real(4) * 1e6));
      if (kind == "step_done" && span_us > 0) {
        columns.add(lane->second, 1, std::max<std::int64_t>(0, at_us - span_us), span_us,
                    words.number("computes"), id_number(asked->text(6)), id_number(asked->text(7)),
                    names.number(asked->text(8)), round);
      }
      if (kind == "round_closed") rounds += fmt::format("{}[{},{}]", rounds.empty() ? "" : ",", at_us, round);
    } else if (type == "decision") {
      columns.add(lane->second, 2, at_us, 0, words.number(reason), id_number(asked->text(6)), 0, 0, round);
    } else {
      columns.add(lane->second, 3, at_us, took_us, words.number(reason), 0, 0, names.number(asked->text(9)),
                  round);
    }
  }
  std::string lane_names;
  for (const auto& lane : lanes) lane_names += (lane_names.empty() ? "" : ",") + json_text(lane);
  const std::string heading = html(title);
  return out(fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>{0}</title><style>{1}</style></head><body>\n"
      "<header><h1>{0}</h1><p id=\"legend\"></p></header>\n"
      "<main><canvas id=\"lanes\" tabindex=\"0\" aria-label=\"Lanes of actors over time: arrow keys move, "
      "plus and minus "
      "zoom, 0 shows all\"></canvas><aside id=\"detail\" aria-live=\"polite\"></aside></main>\n"
      "<script>const "
      "DATA={{lanes:[{2}],lane:[{3}],type:[{4}],at:[{5}],took:[{6}],word:[{7}],id:[{8}],cause:[{9}],"
      "who:[{10}],round:[{11}],words:{12},names:{13},ids:{14}],rounds:[{15}],metrics:{16}}};\n{17}</script></"
      "body></html>\n",
      heading, timeline_style(), lane_names, columns.lane, columns.type, columns.at, columns.took,
      columns.word, columns.id, columns.cause, columns.who, columns.round, words.json(), names.json(), ids,
      rounds, json_text(metrics), timeline_script()));
}

}  // namespace thalweg::log
