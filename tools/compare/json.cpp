#include "tools/compare/json.hpp"

#include "actors/run_folder.hpp"
#include "tools/compare/table.hpp"

#include <nlohmann/json.hpp>

namespace thalweg::compare {
namespace {

using Json = nlohmann::ordered_json;

/// NaN becomes null when it is written.
Json spread_json(const Spread& spread) {
  return {
      {"count", spread.count}, {"mean", spread.mean}, {"least", spread.least}, {"largest", spread.largest}};
}

Json spreads_json(const std::vector<Spread>& spreads) {
  Json json = Json::array();
  for (const Spread& spread : spreads) json.push_back(spread_json(spread));
  return json;
}

Json own_json(const Contestant& contestant) {
  Json json = Json::object();
  for (const Setting& setting : contestant.own) json[setting.key] = setting.value;
  return json;
}

Json method_json(const Contestant& contestant, const Figures& figures) {
  Json json;
  json["label"] = contestant.label;
  json["method"] = contestant.method;
  json["own_settings"] = own_json(contestant);
  json["equal_settings"] = contestant.equal;
  json["done"] = figures.done;
  json["others"] = figures.others;
  json["accuracy"] = spread_json(figures.accuracy);
  json["loss"] = spread_json(figures.loss);
  json["wall_s"] = spread_json(figures.wall_s);
  json["samples_per_s"] = spread_json(figures.samples_per_s);
  json["speed_share"] = spread_json(figures.speed_share);
  json["busy_share"] = spread_json(figures.busy_share);
  json["samples"] = spread_json(figures.samples);
  json["commits"] = spread_json(figures.commits);
  json["staleness_mean"] = spread_json(figures.staleness_mean);
  json["staleness_p99"] = spread_json(figures.staleness_p99);
  json["staleness_shares"] = figures.staleness_shares;
  json["bytes_per_sample"] = spread_json(figures.bytes_per_sample);
  json["bytes_up"] = spreads_json(figures.up);
  json["bytes_down"] = spreads_json(figures.down);
  json["time_to_target_s"] = spread_json(figures.to_target_s);
  json["workers"] = Json::array();
  for (const WorkerShare& worker : figures.workers) {
    json["workers"].push_back(
        {{"name", worker.name}, {"busy_share", worker.busy}, {"samples", worker.samples}});
  }
  return json;
}

Json curve_json(const std::vector<Point>& curve) {
  Json samples = Json::array();
  Json wall_s = Json::array();
  Json values = Json::array();
  for (const Point& point : curve) {
    samples.push_back(point.samples);
    wall_s.push_back(point.wall_s);
    values.push_back(point.value);
  }
  return {{"samples", samples}, {"wall_s", wall_s}, {"value", values}};
}

Json run_json(const Comparison& comparison, const Run& run, double target) {
  Json json;
  json["label"] = comparison.contestants[run.contestant].label;
  json["seed"] = run.seed;
  json["time_to_target_s"] = time_to(run.accuracy, target);
  json["summary"] = Json::parse(actors::summary_json(run.summary));
  json["loss"] = curve_json(run.loss);
  json["accuracy"] = curve_json(run.accuracy);
  return json;
}

}  // namespace

std::string comparison_json(const Comparison& comparison, const std::vector<Figures>& figures,
                            double target) {
  const SamplesCheck check = check_samples(comparison);
  Json json;
  json["schema"] = 1;
  json["version"] = comparison.version;
  json["job"] = job_words(comparison);
  json["job_toml"] = print_config(comparison.job);
  json["emulated"] = is_emulated(comparison);
  json["seeds"] = comparison.seeds;
  json["planned_runs"] = comparison.planned_runs();
  json["target_accuracy"] = target;
  json["samples"] = {{"least", check.least}, {"largest", check.largest}, {"words", check.words()}};
  json["notes"] = table_notes(comparison, figures, target);
  json["methods"] = Json::array();
  for (std::size_t i = 0; i < figures.size(); ++i) {
    json["methods"].push_back(method_json(comparison.contestants[i], figures[i]));
  }
  json["runs"] = Json::array();
  for (const Run& run : comparison.runs) json["runs"].push_back(run_json(comparison, run, target));
  json["folder"] = comparison.folder.string();
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace thalweg::compare
