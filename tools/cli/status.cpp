#include "runtime/config/text.hpp"
#include "tools/cli/rendezvous.hpp"
#include "tools/cli/subcommands.hpp"
#include "tools/cli/terminal.hpp"
#include "tools/text/numbers.hpp"

#include <thalweg/status.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace thalweg::cli {
namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t waits_shown = 12;
constexpr auto watch_every = std::chrono::seconds(1);

/// Where to ask, from an address or the folder of a run on this machine.
Result<InquiryOptions> whom_to_ask(const Arguments& arguments) {
  const std::string& whom = arguments.positionals[0];
  InquiryOptions options;
  options.keys = arguments.value("--keys").value_or("keys");
  std::error_code unknown;
  if (!fs::is_directory(whom, unknown)) {
    options.root = whom;
    return options;
  }
  const auto address = address_in(whom);
  if (!address) {
    return Error{
        ErrorCode::not_found,
        fmt::format("{}: its root does not listen: no run of several processes is going on there", whom)};
  }
  options.root = *address;
  if (!arguments.has("--keys")) options.keys = fs::path(whom) / "keys" / "local";
  return options;
}

std::string text_in(const Json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_string() ? config::printable(found->get<std::string>()) : "";
}

double number_in(const Json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

std::string list_in(const Json& json, const char* field) {
  std::string text;
  const auto found = json.find(field);
  if (found == json.end() || !found->is_array()) return text;
  for (const auto& each : *found) {
    if (each.is_string()) text += (text.empty() ? "" : " ") + config::printable(each.get<std::string>());
  }
  return text;
}

std::string head_line(const Json& json) {
  const auto workers = static_cast<std::uint64_t>(number_in(json, "workers"));
  const auto wanted = static_cast<std::uint64_t>(number_in(json, "wanted"));
  const std::string state = text_in(json, "state");
  std::string line = fmt::format("run {} (term {}): {}, {}", text_in(json, "run").substr(0, 8),
                                 number_in(json, "term"), text_in(json, "method"), state);
  if (state == "paused") {
    line += fmt::format(": {}/{} workers", workers, wanted);
  } else {
    line += fmt::format(", {} workers", workers);
    if (wanted > 0) line += fmt::format(", {} more wanted", wanted);
  }
  return line + "\n";
}

std::string progress_line(const Json& json) {
  if (!json.contains("version")) return "";
  std::string line = fmt::format(
      "version {}, epoch {}, {} samples/s, loss {:.4f}",
      static_cast<std::uint64_t>(number_in(json, "version")), text::human_epochs(number_in(json, "epoch")),
      text::human_count(static_cast<std::uint64_t>(number_in(json, "samples_per_s"))),
      number_in(json, "loss"));
  if (json.contains("accuracy"))
    line += ", test accuracy " + text::human_percent(number_in(json, "accuracy"));
  return line + "\n";
}

/// As a person reads it: the run, its nodes, and who waits for whom.
std::string status_text(const Json& json) {
  std::string text = head_line(json) + progress_line(json);
  const auto rows_of = [&json](const char* field) {
    const auto found = json.find(field);
    return found != json.end() && found->is_array() ? *found : Json::array();
  };
  for (const auto& node : rows_of("nodes")) {
    const std::string members = list_in(node, "members");
    text +=
        fmt::format("  {:<16} {:<8} heard {:.1f} s ago  {}\n", text_in(node, "name"), text_in(node, "node"),
                    number_in(node, "heard_s"), members.empty() ? "hosts nobody yet" : members);
  }
  std::size_t shown = 0;
  const Json waits = rows_of("waits");
  for (const auto& wait : waits) {
    if (shown++ == waits_shown) {
      text += fmt::format("  and {} more waits\n", waits.size() - waits_shown);
      break;
    }
    text +=
        fmt::format("  {} on {} waits for {} ({:.1f} s): {}\n", text_in(wait, "who"), text_in(wait, "node"),
                    text_in(wait, "for"), number_in(wait, "s"), text_in(wait, "until"));
  }
  return text;
}

Status show(Inquiry& inquiry, bool as_json) {
  const Result<std::string> answer = inquiry.ask();
  if (!answer) return answer.error();
  if (as_json) return print_result(*answer + "\n");
  const Json json = Json::parse(*answer, nullptr, false);
  if (!json.is_object()) {
    return Error{ErrorCode::corrupt, "the root's answer cannot be read: run the same release as the root"};
  }
  return print_result(status_text(json));
}

}  // namespace

int run_status(const Arguments& arguments) {
  const Result<InquiryOptions> options = whom_to_ask(arguments);
  if (!options) return report_error(options.error());
  Result<Inquiry> inquiry = Inquiry::open(*options);
  if (!inquiry) return report_error(inquiry.error());
  const bool as_json = arguments.has("--json");
  for (Status shown = show(*inquiry, as_json);; shown = show(*inquiry, as_json)) {
    if (!shown) return report_error(shown.error());
    if (!arguments.has("--watch")) return 0;
    std::this_thread::sleep_for(watch_every);
    if (!as_json) (void)print_result("\n");
  }
}

}  // namespace thalweg::cli
