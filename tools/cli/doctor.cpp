#include "runtime/config/text.hpp"
#include "runtime/net/endpoint.hpp"
#include "tools/cli/subcommands.hpp"
#include "tools/cli/terminal.hpp"
#include "tools/doctor/judge.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::cli {
namespace {

using doctor::Finding;
using doctor::Level;
using std::chrono::milliseconds;

constexpr milliseconds connect_limit = std::chrono::seconds(2);

/// What was asked for, understood.
struct Questions {
  std::optional<net::Endpoint> to;
  std::optional<std::string> keys;
  Silence silence;
};

Result<Questions> questions_of(const Arguments& arguments) {
  Questions questions;
  questions.keys = arguments.value("--keys");
  if (!arguments.positionals.empty()) {
    Result<net::Endpoint> to = net::parse_endpoint(arguments.positionals[0]);
    if (!to) return to.error();
    if (to->port == 0) {
      return Error{ErrorCode::invalid,
                   fmt::format("{}: nobody listens at port 0: give the node's port", to->text())};
    }
    questions.to = std::move(*to);
  }
  if (const auto typed = arguments.value("--silence")) {
    const auto tolerance = config::read_duration(*typed);
    if (!tolerance || *tolerance < Silence::tolerance_min) {
      return Error{
          ErrorCode::invalid,
          fmt::format("--silence {}: is no duration of {} ms or more: give a number and ms, s, m or h, "
                      "as 2s",
                      *typed, Silence::tolerance_min.count())};
    }
    questions.silence.tolerance = *tolerance;
  }
  return questions;
}

std::vector<Finding> find_all(const Questions& questions) {
  const doctor::Machine machine = doctor::look_at_machine();
  std::vector<Finding> findings = doctor::judge_machine(machine);
  const auto add = [&](std::vector<Finding> more) { std::ranges::move(more, std::back_inserter(findings)); };
  if (questions.keys)
    add(doctor::judge_keys(*questions.keys, net::check_keys(*questions.keys), machine.time));
  if (questions.to) {
    add(doctor::judge_reach(*questions.to, net::try_each_address(*questions.to, connect_limit)));
  }
  return findings;
}

std::string_view level_name(Level level) {
  return level == Level::ok ? "ok" : level == Level::warn ? "warn" : "fail";
}

std::string text_of(const std::vector<Finding>& findings, const Silence& silence) {
  std::string text;
  for (const Finding& one : findings) {
    text += fmt::format("{:<4}  {:<9}  {}{}{}\n", level_name(one.level), one.check, one.text,
                        one.advice.empty() ? "" : ": ", one.advice);
  }
  text += fmt::format("\nWith net.silence = \"{}\":\n", config::duration_text(silence.tolerance));
  for (const doctor::Bound& bound : doctor::bounds_of(silence)) {
    text += fmt::format("{:>8}  {}\n", config::duration_text(bound.after), bound.what);
  }
  return text;
}

/// {"checks": [{"level", "check", "text", "advice"}], "silence": {"tolerance_ms", "heartbeat_ms", ...}}
std::string json_of(const std::vector<Finding>& findings, const Silence& silence) {
  nlohmann::ordered_json json;
  json["checks"] = nlohmann::ordered_json::array();
  for (const Finding& one : findings) {
    json["checks"].push_back(
        {{"level", level_name(one.level)}, {"check", one.check}, {"text", one.text}, {"advice", one.advice}});
  }
  json["silence"]["tolerance_ms"] = silence.tolerance.count();
  for (const doctor::Bound& bound : doctor::bounds_of(silence)) {
    json["silence"][fmt::format("{}_ms", bound.name)] = bound.after.count();
  }
  json["schema"] = 1;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

int run_doctor(const Arguments& arguments) {
  const Result<Questions> questions = questions_of(arguments);
  if (!questions) return report_error(questions.error());
  const std::vector<Finding> findings = find_all(*questions);
  const auto failed = std::ranges::count(findings, Level::fail, &Finding::level);
  const Status printed = print_result(arguments.has("--json") ? json_of(findings, questions->silence)
                                                              : text_of(findings, questions->silence));
  if (!printed) return report_error(printed.error());
  if (failed == 0) return 0;
  return report_error({ErrorCode::failed, fmt::format("{} of {} checks failed: see the lines with \"fail\"",
                                                      failed, findings.size())});
}

}  // namespace thalweg::cli
