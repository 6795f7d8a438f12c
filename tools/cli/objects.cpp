#include "tools/cli/objects.hpp"

#include <nlohmann/json.hpp>

namespace thalweg::cli {
namespace {

using Json = nlohmann::ordered_json;

double per_sample(double sum, std::uint64_t samples) {
  return samples > 0 ? sum / static_cast<double>(samples) : 0;
}

/// Names from the machine may be any bytes; those that are no UTF-8 are replaced.
std::string one_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

double Evaluation::accuracy() const { return per_sample(static_cast<double>(score.correct), score.samples); }

double Evaluation::loss() const { return per_sample(score.loss_sum, score.samples); }

std::string evaluation_json(const Evaluation& evaluation) {
  Json json;
  json["folder"] = evaluation.folder;
  json["model"] = evaluation.model;
  json["data"] = evaluation.data;
  json["accuracy"] = evaluation.accuracy();
  json["loss"] = evaluation.loss();
  json["correct"] = evaluation.score.correct;
  json["samples"] = evaluation.score.samples;
  json["schema"] = 1;
  return one_line(json);
}

std::string devices_json(const gpu::DeviceReport& report) {
  Json json;
  json["devices"] = Json::array();
  for (const gpu::DeviceInfo& info : report.devices) {
    Json device;
    device["name"] = info.name;
    device["hardware"] = info.hardware;
    device["library"] = info.library;
    device["cores"] = info.cores;
    device["memory_bytes"] = info.memory_bytes;
    json["devices"].push_back(std::move(device));
  }
  json["absent"] = report.absent;
  json["schema"] = 1;
  return one_line(json);
}

}  // namespace thalweg::cli
