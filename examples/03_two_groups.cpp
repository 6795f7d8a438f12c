// As 02, with unequal workers in two unequal groups, and the bytes that each level of the tree moved.
#include <thalweg/cluster.hpp>

#include <cstdio>
#include <variant>

namespace {

void show(const thalweg::RunEvent& event) {
  if (const auto* evaluated = std::get_if<thalweg::Evaluated>(&event)) {
    std::printf("epoch %.2f: accuracy %.3f\n", evaluated->epoch, evaluated->accuracy);
  }
}

}  // namespace

int main() {
  thalweg::Config config;
  config.data.name = "synthetic";
  config.model.name = "mlp";
  // A leader with one worker and a leader with three. Averages are weighted by samples, so any split of the
  // same 32 samples takes the same steps.
  config.topology.tree.children = {{1, {}}, {3, {}}};
  config.train.batch = {14, 8, 6, 4};
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
  std::printf("two groups: accuracy %.3f after %llu commits, in %s\n", summary->accuracy,
              static_cast<unsigned long long>(summary->commits), summary->folder.c_str());
  for (std::size_t level = 0; level < summary->bytes_up.size(); ++level) {
    std::printf("level %zu: %llu bytes up, %llu down\n", level,
                static_cast<unsigned long long>(summary->bytes_up[level]),
                static_cast<unsigned long long>(summary->bytes_down[level]));
  }
}
