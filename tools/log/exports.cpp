#include "tools/log/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace thalweg::log {
namespace {

/// Handling that was too short to be measured is drawn all the same.
constexpr double slice_min_us = 0.1;

struct Event {
  double at_us = 0;
  std::string text;
};

/// Numbers processes and threads as they are met, and says what they are called.
class Tracks {
 public:
  std::string ids(const std::string& node, const std::string& actor, std::vector<Event>& events) {
    const auto [process, fresh] = processes_.try_emplace(node, processes_.size() + 1);
    if (fresh) {
      events.push_back(
          {-1,
           fmt::format(R"({{"ph":"M","pid":{},"tid":0,"ts":0,"name":"process_name","args":{{"name":{}}}}})",
                       process->second, json_text(node))});
    }
    const auto [thread, new_thread] = threads_.try_emplace({node, actor}, threads_.size() + 1);
    if (new_thread) {
      events.push_back(
          {-1,
           fmt::format(R"({{"ph":"M","pid":{},"tid":{},"ts":0,"name":"thread_name","args":{{"name":{}}}}})",
                       process->second, thread->second, json_text(actor))});
    }
    return fmt::format(R"("pid":{},"tid":{})", process->second, thread->second);
  }

 private:
  std::map<std::string, std::size_t> processes_;
  std::map<std::pair<std::string, std::string>, std::size_t> threads_;
};

}  // namespace

Status write_perfetto(const journal::RunLog& log, const Filter& filter, const Out& out) {
  constexpr const char* columns =
      "node, actor, type, kind, sender, id, cause, at_s, took_s, span_s, round, version, samples, bytes, "
      "whom, reason";
  auto asked = select(log, columns, filter);
  if (!asked) return asked.error();
  std::vector<Event> events;
  Tracks tracks;
  // Where a message was handled: arrows from it begin there.
  std::unordered_map<std::string, std::pair<double, std::string>> slices;
  std::size_t arrows = 0;
  while (true) {
    const auto row = asked->step();
    if (!row) return row.error();
    if (!*row) break;
    const auto node = asked->text(0), actor = asked->text(1), type = asked->text(2), kind = asked->text(3);
    const double at_us = asked->real(7) * 1e6;
    const double took_us = std::max(slice_min_us, asked->real(8) * 1e6);
    std::string args;
    const auto add = [&](const char* name, int column) {
      if (!asked->is_null(column)) args += fmt::format(R"(,"{}":{})", name, asked->integer(column));
    };
    add("round", 10);
    add("version", 11);
    add("samples", 12);
    add("bytes", 13);
    if (!asked->is_null(15)) args += ",\"reason\":" + json_text(asked->text(15));
    if (type == "message") {
      const auto where = tracks.ids(node, actor, events);
      events.push_back(
          {at_us,
           fmt::format(
               R"({{"ph":"X",{},"ts":{:.3f},"dur":{:.3f},"name":{},"cat":"message","args":{{"id":"{}","from":{}{}}}}})",
               where, at_us, took_us, json_text(kind), asked->text(5), json_text(asked->text(4)), args)});
      const auto cause = slices.find(asked->text(6));
      if (cause != slices.end() && cause->second.first <= at_us) {
        ++arrows;
        events.push_back({cause->second.first,
                          fmt::format(R"({{"ph":"s","id":{},{},"ts":{:.3f},"name":"cause","cat":"cause"}})",
                                      arrows, cause->second.second, cause->second.first)});
        events.push_back(
            {at_us,
             fmt::format(R"({{"ph":"f","bp":"e","id":{},{},"ts":{:.3f},"name":"cause","cat":"cause"}})",
                         arrows, where, at_us)});
      }
      slices[asked->text(5)] = {at_us, where};
      if (kind == "step_done" && asked->real(9) > 0) {
        const double span_us = asked->real(9) * 1e6;
        const double began_us = std::max(0.0, at_us - span_us);
        events.push_back(
            {began_us,
             fmt::format(
                 R"({{"ph":"X",{},"ts":{:.3f},"dur":{:.3f},"name":"step","cat":"device","args":{{"samples":{}}}}})",
                 tracks.ids(node, actor + " device", events), began_us, at_us - began_us,
                 asked->integer(12))});
      }
    } else if (type == "wait" || type == "waiting") {
      events.push_back(
          {at_us,
           fmt::format(
               R"({{"ph":"X",{},"ts":{:.3f},"dur":{:.3f},"name":{},"cat":"wait","args":{{"for":{}{}}}}})",
               tracks.ids(node, actor + " waits", events), at_us, took_us,
               json_text("waits for " + asked->text(14)), json_text(asked->text(14)), args)});
    } else {
      events.push_back(
          {at_us,
           fmt::format(
               R"({{"ph":"i","s":"t",{},"ts":{:.3f},"name":{},"cat":"decision","args":{{"by":{}{}}}}})",
               tracks.ids(node, actor, events), at_us, json_text(asked->text(15)), json_text(actor), args)});
    }
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.at_us < b.at_us; });
  if (auto written = out("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"); !written) return written;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (auto written = out(events[i].text + (i + 1 < events.size() ? ",\n" : "\n")); !written) return written;
  }
  return out("]}\n");
}

Status write_csv(const journal::RunLog& log, const Filter& filter, const Out& out) {
  constexpr const char* columns =
      "at_s, wall, node, actor, type, kind, sender, whom, id, cause, term, round, version, iteration, "
      "samples, bytes, "
      "span_s, queue_s, took_s, reason";
  auto asked = select(log, columns, filter);
  if (!asked) return asked.error();
  if (auto written =
          out("at_s,wall,node,actor,type,kind,sender,whom,id,cause,term,round,version,iteration,samples,"
              "bytes,span_s,queue_s,took_s,reason\r\n");
      !written) {
    return written;
  }
  while (true) {
    const auto row = asked->step();
    if (!row) return row.error();
    if (!*row) return {};
    std::string line;
    for (int i = 0; i < asked->columns(); ++i) {
      std::string text = asked->text(i);
      if (text.find_first_of(",\"\r\n") != std::string::npos) {
        std::string quoted = "\"";
        for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
        text = quoted + "\"";
      }
      line += (i == 0 ? "" : ",") + text;
    }
    if (auto written = out(line + "\r\n"); !written) return written;
  }
}

}  // namespace thalweg::log
