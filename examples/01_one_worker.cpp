// One worker right below the root, on made data: the smallest run there is. Four calls: a configuration, a
// start, a wait, and a look at the summary. Files 02 and 03 grow this one.
#include <thalweg/cluster.hpp>

#include <cstdio>
#include <variant>

int main() {
  thalweg::Config config;
  config.data.name = "synthetic";
  config.model.name = "mlp";
  config.topology.workers = 1;
  config.topology.groups = 0;  // no leader between the worker and the root
  config.train.batch = {32};
  config.train.epochs = 2;

  auto cluster = thalweg::Cluster::start(config);
  if (!cluster) {
    std::fprintf(stderr, "cannot start: %s\n", cluster.error().text.c_str());
    return thalweg::exit_code_of(cluster.error().code);
  }
  auto summary = cluster->wait();
  if (!summary) {
    std::fprintf(stderr, "the run failed: %s\n", summary.error().text.c_str());
    return thalweg::exit_code_of(summary.error().code);
  }
  std::printf("one worker: accuracy %.3f after %llu commits, in %s\n", summary->accuracy,
              static_cast<unsigned long long>(summary->commits), summary->folder.c_str());
}
