// As 01, with four workers under one leader, and events: what the run tells while it goes on.
#include <thalweg/cluster.hpp>

#include <cstdio>
#include <variant>

namespace {

void show(const thalweg::RunEvent& event) {
  if (const auto* progressed = std::get_if<thalweg::Progressed>(&event)) {
    std::printf("epoch %.2f: loss %.4f, %.0f samples/s\n", progressed->epoch, progressed->loss,
                progressed->samples_per_s);
  } else if (const auto* evaluated = std::get_if<thalweg::Evaluated>(&event)) {
    std::printf("epoch %.2f: accuracy %.3f\n", evaluated->epoch, evaluated->accuracy);
  }
}

}  // namespace

int main() {
  thalweg::Config config;
  config.data.name = "synthetic";
  config.model.name = "mlp";
  config.topology.workers = 4;
  config.topology.groups = 1;
  config.train.batch = {8};  // of each worker: together as many as before
  config.train.epochs = 2;

  auto cluster = thalweg::Cluster::start(config, {.model = {}, .on_event = show});
  if (!cluster) {
    std::fprintf(stderr, "cannot start: %s\n", cluster.error().text.c_str());
    return thalweg::exit_code_of(cluster.error().code);
  }
  auto summary = cluster->wait();
  if (!summary) {
    std::fprintf(stderr, "the run failed: %s\n", summary.error().text.c_str());
    return thalweg::exit_code_of(summary.error().code);
  }
  std::printf("one group: accuracy %.3f after %llu commits, in %s\n", summary->accuracy,
              static_cast<unsigned long long>(summary->commits), summary->folder.c_str());
}
