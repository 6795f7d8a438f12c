#include "tools/bench/comparison.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace thalweg::bench {
namespace {

using Json = nlohmann::ordered_json;

/// Three digits and the unit that suits them.
std::string human_time(double time_s) {
  if (time_s >= 1) return fmt::format("{:.3g} s", time_s);
  if (time_s >= 1e-3) return fmt::format("{:.3g} ms", time_s * 1e3);
  if (time_s >= 1e-6) return fmt::format("{:.3g} us", time_s * 1e6);
  return fmt::format("{:.3g} ns", time_s * 1e9);
}

std::string contestant_row(const Comparison& comparison, const std::string& name, const Spread& cost,
                           std::size_t width) {
  const double gap = comparison.floor.unit_s > 0 ? cost.median / comparison.floor.unit_s : 0;
  return fmt::format("  {:<{}}  {:>8}  {:.2f} x the floor\n", name, width, human_time(cost.median), gap);
}

Json spread_json(const Spread& spread) {
  return {{"median", spread.median}, {"least", spread.least}, {"largest", spread.largest}};
}

Json contestant_json(const std::string& name, const Spread& cost) {
  Json json = {{"name", name}, {"s", cost.median}};
  json["s_least"] = cost.least;
  json["s_largest"] = cost.largest;
  return json;
}

Json comparison_json(const Comparison& comparison) {
  Json json;
  json["bench"] = comparison.bench;
  json["what"] = comparison.what;
  json["unit"] = comparison.unit;
  json["floor"] = {{"s", comparison.floor.unit_s}, {"why", comparison.floor.why}};
  json["subject"] = contestant_json(comparison.subject, comparison.subject_s);
  json["reference"] = contestant_json(comparison.reference, comparison.reference_s);
  json["ratio"] = spread_json(comparison.ratio);
  json["ratio"]["of"] = comparison.sense == Sense::speed ? "speed" : "time";
  json["target"] = comparison.target ? Json(*comparison.target) : Json(nullptr);
  json["met"] = comparison.met();
  return json;
}

}  // namespace

bool Comparison::met() const {
  if (!target) return true;
  return sense == Sense::speed ? ratio.median >= *target : ratio.median <= *target;
}

Comparison compare(const Interleaved& measured, std::size_t subject, std::size_t reference, Sense sense) {
  Comparison comparison;
  comparison.subject_s = measured.cost(subject);
  comparison.reference_s = measured.cost(reference);
  comparison.sense = sense;
  comparison.ratio =
      sense == Sense::speed ? measured.ratio(reference, subject) : measured.ratio(subject, reference);
  return comparison;
}

std::string comparison_text(const Comparison& comparison) {
  const std::size_t width =
      std::max({comparison.subject.size(), comparison.reference.size(), std::size_t{5}});
  std::string text =
      fmt::format("{}: {}; times of a {}\n", comparison.bench, comparison.what, comparison.unit);
  text += fmt::format("  {:<{}}  {:>8}  {}\n", "floor", width, human_time(comparison.floor.unit_s),
                      comparison.floor.why);
  text += contestant_row(comparison, comparison.subject, comparison.subject_s, width);
  text += contestant_row(comparison, comparison.reference, comparison.reference_s, width);
  const bool speed = comparison.sense == Sense::speed;
  text += fmt::format("  {:<{}}  {:>8.3f}  of the reference's {} ({:.3f} to {:.3f})", "ratio", width,
                      comparison.ratio.median, speed ? "speed" : "time", comparison.ratio.least,
                      comparison.ratio.largest);
  if (comparison.target) {
    text += fmt::format("; target {} {:.2f}: {}", speed ? "at least" : "at most", *comparison.target,
                        comparison.met() ? "met" : "missed");
  }
  return text + "\n";
}

std::string comparison_table(const std::vector<Comparison>& comparisons) {
  const auto pair_of = [](const Comparison& it) { return it.subject + " : " + it.reference; };
  std::size_t bench = 0;
  std::size_t pair = 0;
  std::size_t what = 0;
  for (const Comparison& each : comparisons) {
    bench = std::max(bench, each.bench.size());
    pair = std::max(pair, pair_of(each).size());
    what = std::max(what, each.what.size());
  }
  std::string text;
  for (const Comparison& each : comparisons) {
    const bool speed = each.sense == Sense::speed;
    text += fmt::format("{:<{}}  {:<{}}  {:<{}}  {}  {:.3f}", each.bench, bench, pair_of(each), pair,
                        each.what, what, speed ? "speed" : "time ", each.ratio.median);
    if (each.target) {
      text +=
          fmt::format("  {} {:.2f}  {}", speed ? ">=" : "<=", *each.target, each.met() ? "met" : "missed");
    }
    text += "\n";
  }
  return text;
}

std::string report_json(const Report& report) {
  Json json;
  json["schema"] = 1;
  json["version"] = report.version;
  json["machine"] = {{"hardware", report.hardware}, {"library", report.library}, {"cores", report.cores}};
  json["pairs"] = report.pairs;
  json["small"] = report.small;
  json["comparisons"] = Json::array();
  for (const Comparison& comparison : report.comparisons) {
    json["comparisons"].push_back(comparison_json(comparison));
  }
  // Names from the machine may be any bytes; those that are no UTF-8 are replaced.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace thalweg::bench
