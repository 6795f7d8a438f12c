#include "actors/status_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <type_traits>
#include <variant>

namespace thalweg::actors {
namespace {

using Json = nlohmann::ordered_json;

double seconds_of(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::duration<double>>(time).count();
}

Json json_of(const std::string& node, const Wait& wait) {
  return {{"node", node},
          {"who", wait.who},
          {"for", wait.for_whom},
          {"until", wait.until},
          {"s", static_cast<double>(wait.ms) / 1000}};
}

Json nodes_of(const RegistrarState& registrar) {
  auto nodes = Json::array();
  for (const auto& [number, guest] : registrar.guests()) {
    auto members = Json::array();
    for (const auto& seat : registrar.placement().seats()) {
      if (seat.node == number) members.push_back(seat.member.text());
    }
    nodes.push_back({{"name", guest.name},
                     {"node", "n" + std::to_string(number.value)},
                     {"ready", guest.ready},
                     {"members", std::move(members)},
                     {"heard_s", seconds_of(registrar.now() - guest.heard)}});
  }
  return nodes;
}

}  // namespace

void RunStatus::begin(const Summary& summary, std::uint32_t term) {
  const std::lock_guard lock(mutex_);
  now_.run = summary.run;
  now_.method = summary.method;
  now_.model = summary.model;
  now_.term = term;
  now_.workers = summary.workers;
}

void RunStatus::hear(const RunEvent& event) {
  const std::lock_guard lock(mutex_);
  std::visit(
      [this]<class Event>(const Event& each) {
        if constexpr (std::is_same_v<Event, Progressed>) now_.progress = each;
        if constexpr (std::is_same_v<Event, Evaluated>) now_.evaluated = each;
        if constexpr (std::is_same_v<Event, WorkerLost>) now_.workers = each.workers_left;
        if constexpr (std::is_same_v<Event, WorkerJoined>) now_.workers = each.workers;
        if constexpr (std::is_same_v<Event, Checkpointed>) {
          if (each.failure.empty()) now_.checkpoint = each.version;
        }
        if constexpr (std::is_same_v<Event, RunPaused>) {
          now_.paused = each.workers < each.wanted ? std::optional(each) : std::nullopt;
        }
      },
      event);
}

RunStatus::Now RunStatus::now() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

std::string status_json(const RunStatus& run, const RegistrarState& registrar,
                        const std::vector<Wait>& here) {
  const auto now = run.now();
  Json json;
  json["run"] = now.run;
  json["term"] = now.term;
  json["method"] = now.method;
  json["model"] = now.model;
  const bool training = registrar.training();
  json["state"] = now.paused ? "paused" : training ? "training" : "waiting for nodes";
  json["workers"] = training ? now.workers : registrar.placement().workers();
  json["wanted"] = now.paused ? now.paused->wanted : training ? 0 : registrar.placement().free();
  if (now.progress) {
    json["version"] = now.progress->version;
    json["epoch"] = now.progress->epoch;
    json["samples"] = now.progress->samples;
    json["loss"] = now.progress->loss;
    json["samples_per_s"] = now.progress->samples_per_s;
    json["wall_s"] = now.progress->wall_s;
  }
  if (now.evaluated) json["accuracy"] = now.evaluated->accuracy;
  if (now.checkpoint) json["checkpoint"] = *now.checkpoint;
  json["nodes"] = nodes_of(registrar);
  std::vector<Json> waits;
  for (const auto& wait : here) waits.push_back(json_of("root", wait));
  for (const auto& [number, guest] : registrar.guests()) {
    for (const auto& wait : guest.waits) waits.push_back(json_of(guest.name, wait));
  }
  std::stable_sort(waits.begin(), waits.end(),
                   [](const Json& a, const Json& b) { return a["s"].get<double>() > b["s"].get<double>(); });
  json["waits"] = waits;
  // Names come from other nodes: what is no UTF-8 must not end this one.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace thalweg::actors
