#include "tools/compare/experiment.hpp"

#include <thalweg/cluster.hpp>

#include <algorithm>
#include <utility>
#include <variant>

namespace thalweg::compare {

void Recorder::take(const RunEvent& event) {
  if (const auto* started = std::get_if<Started>(&event)) {
    run_.started = *started;
  } else if (const auto* progressed = std::get_if<Progressed>(&event)) {
    run_.loss.push_back({static_cast<double>(progressed->samples), progressed->wall_s, progressed->loss});
    commits_.push_back({progressed->version, progressed->wall_s});
  } else if (const auto* evaluated = std::get_if<Evaluated>(&event)) {
    run_.accuracy.push_back(
        {static_cast<double>(evaluated->samples), evaluated->wall_s, evaluated->accuracy});
    evaluated_.push_back(evaluated->version);
  } else if (const auto* ended = std::get_if<Ended>(&event)) {
    run_.summary = ended->summary;
  }
}

Run Recorder::recorded() const {
  Run run = run_;
  for (std::size_t i = 0; i < run.accuracy.size(); ++i) {
    const auto commit = std::ranges::find(commits_, evaluated_[i], &Commit::version);
    if (commit != commits_.end()) run.accuracy[i].wall_s = std::min(run.accuracy[i].wall_s, commit->wall_s);
  }
  return run;
}

Run run_once(const Config& config, const std::function<void(const RunEvent&)>& watch) {
  Recorder recorder;
  ClusterOptions options;
  options.on_event = [&](const RunEvent& event) {
    if (watch) watch(event);
    recorder.take(event);
  };
  Result<Summary> summary = [&]() -> Result<Summary> {
    Result<Cluster> cluster = Cluster::start(config, std::move(options));
    if (!cluster) return cluster.error();
    return cluster->wait();
  }();
  Run run = recorder.recorded();
  run.seed = config.run.seed;
  if (summary) {
    run.summary = *summary;
  } else {
    run.summary.end = summary.error().code == ErrorCode::diverged ? "diverged" : "failed";
    if (run.summary.failure.empty()) run.summary.failure = summary.error().text;
    if (run.summary.folder.empty()) run.summary.folder = config.run.out;
  }
  return run;
}

}  // namespace thalweg::compare
