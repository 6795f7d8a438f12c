#include "runtime/config/text.hpp"
#include "tools/cli/subcommands.hpp"
#include "tools/cli/terminal.hpp"
#include "tools/log/questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace thalweg::cli {
namespace fs = std::filesystem;

namespace {

using journal::RunLog;
using log::Filter;
using log::Out;

constexpr auto follow_every = std::chrono::milliseconds(300);

Error not_understood(const std::string& text) {
  return {ErrorCode::invalid, text + ": see thalweg log --help"};
}

Result<std::optional<std::int64_t>> number(const Arguments& arguments, std::string_view flag) {
  const auto typed = arguments.value(flag);
  if (!typed) return std::optional<std::int64_t>();
  std::int64_t value = 0;
  const char* end = typed->data() + typed->size();
  const auto read = std::from_chars(typed->data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || value < 0) {
    return not_understood(fmt::format("{} {}: is no whole number", flag, *typed));
  }
  return std::optional(value);
}

Result<std::optional<double>> seconds(const Arguments& arguments, std::string_view flag) {
  const auto typed = arguments.value(flag);
  if (!typed) return std::optional<double>();
  char* end = nullptr;
  const double value = std::strtod(typed->c_str(), &end);
  if (typed->empty() || *end != '\0' || !std::isfinite(value) || value < 0) {
    return not_understood(fmt::format("{} {}: is no number of seconds", flag, *typed));
  }
  return std::optional(value);
}

Result<Filter> filter_of(const Arguments& arguments) {
  Filter filter;
  filter.actor = arguments.value("--actor").value_or("");
  filter.node = arguments.value("--node").value_or("");
  filter.kind = arguments.value("--kind").value_or("");
  filter.type = arguments.value("--type").value_or("");
  filter.reason = arguments.value("--reason").value_or("");
  const std::array<std::pair<const char*, std::optional<std::int64_t>*>, 5> numbers = {
      {{"--round", &filter.round},
       {"--last", &filter.last},
       {"--iteration", &filter.iteration},
       {"--min-bytes", &filter.bytes_min},
       {"--limit", &filter.limit}}};
  for (const auto& [flag, where] : numbers) {
    auto value = number(arguments, flag);
    if (!value) return value.error();
    *where = *value;
  }
  const std::array<std::pair<const char*, std::optional<double>*>, 2> times = {
      {{"--from", &filter.from_s}, {"--to", &filter.to_s}}};
  for (const auto& [flag, where] : times) {
    auto value = seconds(arguments, flag);
    if (!value) return value.error();
    *where = *value;
  }
  return filter;
}

Status to_stdout(std::string_view text) { return print_result(text); }

/// Whatever is in a file once `write` has been through.
Status into_file(const std::string& name, const std::function<Status(const Out&)>& write) {
  std::ofstream file(name, std::ios::binary | std::ios::trunc);
  if (!file) return Error{ErrorCode::io, fmt::format("cannot write {}: give another name", name)};
  const Status done = write([&](std::string_view text) -> Status {
    if (file.write(text.data(), static_cast<std::streamsize>(text.size()))) return {};
    return Error{ErrorCode::io, fmt::format("cannot write {}: the disk may be full", name)};
  });
  if (!done) return done;
  file.close();
  if (!file) return Error{ErrorCode::io, fmt::format("cannot write {}: the disk may be full", name)};
  return {};
}

std::string metrics_of(const fs::path& run) {
  std::ifstream file(run / "metrics.csv", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Status follow(RunLog& log, Filter filter, bool json) {
  while (true) {
    auto last = log::show(log, filter, json, to_stdout);
    if (!last) return last.error();
    filter.after = *last;
    std::this_thread::sleep_for(follow_every);
    if (Status refreshed = log.refresh(); !refreshed) return refreshed;
  }
}

Status show(RunLog& log, const Arguments& arguments) {
  const Result<Filter> filter = filter_of(arguments);
  if (!filter) return filter.error();
  const bool json = arguments.has("--json");
  if (arguments.has("--follow")) return follow(log, *filter, json);
  const auto shown = log::show(log, *filter, json, to_stdout);
  return shown ? Status() : Status(shown.error());
}

Status why(const RunLog& log, const Arguments& arguments) {
  const auto round = number(arguments, "--round");
  if (!round) return round.error();
  const auto iteration = number(arguments, "--iteration");
  if (!iteration) return iteration.error();
  const int asked = (*round ? 1 : 0) + (*iteration ? 1 : 0) + (arguments.has("--now") ? 1 : 0);
  if (asked != 1) return not_understood("log why needs one of --round N, --iteration N and --now");
  if (*round) return log::why_round(log, **round, to_stdout);
  if (*iteration) return log::why_iteration(log, **iteration, to_stdout);
  return log::why_now(log, to_stdout);
}

Status sql(RunLog& log, const std::string& question, bool json) {
  // What a person types is to ask, and not to change what is known.
  if (Status forbidden = log.forbid_writing(); !forbidden) return forbidden;
  auto asked = log.prepare(question);
  if (!asked) return Error{ErrorCode::invalid, "log sql: " + asked.error().text};
  return log::write_rows(*asked, json, to_stdout);
}

Status exports(const RunLog& log, const Arguments& arguments) {
  const Result<Filter> filter = filter_of(arguments);
  if (!filter) return filter.error();
  const auto perfetto = arguments.value("--perfetto"), csv = arguments.value("--csv");
  if (perfetto.has_value() == csv.has_value())
    return not_understood("log export needs one of --perfetto FILE and --csv FILE");
  return into_file(perfetto ? *perfetto : *csv, [&](const Out& out) {
    return perfetto ? log::write_perfetto(log, *filter, out) : log::write_csv(log, *filter, out);
  });
}

Result<bool> diff(const RunLog& log, const std::string& other_name) {
  const auto other = RunLog::open(other_name);
  if (!other) return other.error();
  return log::diff(log, *other, to_stdout);
}

int done(const Status& status) { return status ? 0 : report_error(status.error()); }

int answer(RunLog& log, const std::string& what, const std::string& run, const std::vector<std::string>& rest,
           const Arguments& arguments) {
  const bool json = arguments.has("--json");
  if (what == "ls") return done(log::list(log, json, to_stdout));
  if (what == "show") return done(show(log, arguments));
  if (what == "why") return done(why(log, arguments));
  if (what == "stats") return done(log::stats(log, to_stdout));
  if (what == "export") return done(exports(log, arguments));
  if (what == "trace") return done(log::trace(log, rest[0], to_stdout));
  if (what == "sql") return done(sql(log, rest[0], json));
  if (what == "timeline") {
    const auto file = arguments.value("--output").value_or("timeline.html");
    return done(
        into_file(file, [&](const Out& out) { return log::write_timeline(log, run, metrics_of(run), out); }));
  }
  const auto same = diff(log, rest[0]);
  if (!same) return report_error(same.error());
  return *same ? 0 : 1;
}

}  // namespace

std::string timeline_page(const fs::path& run) {
  std::string page;
  const Result<RunLog> log = RunLog::open(run);
  const Status written = !log ? Status(log.error())
                              : log::write_timeline(*log, run.filename().string(), metrics_of(run),
                                                    [&page](std::string_view text) {
                                                      page += text;
                                                      return Status();
                                                    });
  return written ? page : "there is no timeline: " + config::printable(written.error().text) + "\n";
}

int run_log(const Arguments& arguments) {
  constexpr std::array<std::string_view, 9> known = {"ls",   "show", "trace",  "why",     "stats",
                                                     "diff", "sql",  "export", "timeline"};
  const std::string& what = arguments.positionals[0];
  if (std::ranges::find(known, what) == known.end()) {
    const std::vector<std::string> names(known.begin(), known.end());
    return report_error(
        {ErrorCode::invalid,
         fmt::format("log {}: is none of ls, show, trace, why, stats, diff, sql, export, timeline{}",
                     config::printable(what), advice(what, names, "thalweg log --help"))});
  }
  const std::string& run = arguments.positionals[1];
  const std::vector<std::string> rest(arguments.positionals.begin() + 2, arguments.positionals.end());
  const char* third = what == "trace"  ? "a MESSAGE"
                      : what == "sql"  ? "a QUESTION"
                      : what == "diff" ? "another RUN"
                                       : nullptr;
  if (third != nullptr && rest.size() != 1) {
    return report_error(not_understood(fmt::format("log {} needs a RUN and {}", what, third)));
  }
  if (third == nullptr && !rest.empty()) {
    return report_error(
        not_understood(fmt::format("{}: log {} takes a RUN only", config::printable(rest[0]), what)));
  }
  Result<RunLog> log = RunLog::open(run);
  if (!log) return report_error(log.error());
  for (const auto& warning : log->warnings()) print_progress(fmt::format("thalweg: {}\n", warning));
  return answer(*log, what, run, rest, arguments);
}

}  // namespace thalweg::cli
