#pragma once

#include "tools/bench/comparison.hpp"

#include <functional>
#include <string>
#include <vector>

/// What `thalweg bench` can measure, by name, a file each.
namespace thalweg::bench {

struct Settings {
  const Clock& clock;
  std::size_t pairs = 10;  ///< turns of each contestant
  bool small = false;      ///< as little of everything as shows that it works
  std::function<void(const Comparison&)> on_comparison = {};  ///< told of each as it is done
};

struct Bench {
  std::string name;
  std::string what;  ///< a few words, for the help
  Status (*run)(const Settings& settings);
};

/// In the order in which they run when none is named.
std::vector<Bench> all_benches();

Status bench_rounds(const Settings& settings);
Status bench_turnaround(const Settings& settings);
Status bench_sum(const Settings& settings);
Status bench_messages(const Settings& settings);
Status bench_net(const Settings& settings);

}  // namespace thalweg::bench
