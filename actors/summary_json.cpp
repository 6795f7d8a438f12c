#include "actors/run_folder.hpp"

#include <nlohmann/json.hpp>

namespace thalweg::actors {

std::string summary_json(const Summary& summary) {
  // `ordered_json` keeps the order of the documentation, so that two summaries can be compared line by line.
  // A number that is not finite becomes null.
  nlohmann::ordered_json json;
  json["run"] = summary.run;
  json["method"] = summary.method;
  json["model"] = summary.model;
  json["data"] = summary.data;
  json["seed"] = summary.seed;
  json["workers"] = summary.workers;
  json["groups"] = summary.groups;
  json["epochs"] = summary.epochs;
  json["samples"] = summary.samples;
  json["commits"] = summary.commits;
  json["wall_s"] = summary.wall_s;
  json["compute_s"] = summary.compute_s;
  json["busy_share"] = summary.busy_share;
  json["speed_share"] = summary.speed_share;
  json["samples_per_s"] = summary.samples_per_s;
  json["loss"] = summary.loss;
  json["accuracy"] = summary.accuracy;
  json["staleness"] = {
      {"mean", summary.staleness_mean}, {"p99", summary.staleness_p99}, {"max", summary.staleness_max}};
  json["bytes"] = {{"up", summary.bytes_up}, {"down", summary.bytes_down}};
  json["messages"] = summary.messages;
  json["ledger"] = {
      {"committed", summary.committed}, {"repeated", summary.repeated}, {"quarantined", summary.quarantined}};
  json["refused"] = summary.refused;
  json["emulated"] = summary.emulated;
  json["end"] = summary.end;
  json["schema"] = 1;
  json["failure"] = summary.failure;
  json["ended_by"] = summary.ended_by;
  json["resumed_from"] = nullptr;
  if (summary.resumed_from) json["resumed_from"] = *summary.resumed_from;
  json["tree"] = summary.tree;
  json["setup_s"] = summary.setup_s;
  json["data_s"] = summary.data_s;
  json["train_loss"] = summary.train_loss;
  json["staleness_counts"] = summary.staleness_counts;
  json["worker_summaries"] = nlohmann::ordered_json::array();
  for (const auto& worker : summary.worker_summaries) {
    json["worker_summaries"].push_back({{"name", worker.name},
                                        {"samples", worker.samples},
                                        {"steps", worker.steps},
                                        {"compute_s", worker.compute_s}});
  }
  json["folder"] = summary.folder.string();
  // A folder's name may be any bytes; those that are no UTF-8 are replaced instead of failing the whole
  // summary.
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace thalweg::actors
