#include "actors/rules/balance.hpp"

#include "actors/rules/sampling.hpp"

#include <algorithm>
#include <cmath>

namespace thalweg::rules {

namespace {

/// Share of the newest measurement in a speed.
constexpr double newest = 0.5;
/// Speeds are compared as whole numbers: the fastest worker's is this.
constexpr double resolution = 1'000'000;

}  // namespace

void Balance::observe(const std::vector<Work>& work) {
  ++commits_;
  for (const auto& each : work) {
    auto& worker = workers_[each.worker];
    worker.samples += each.samples;
    worker.compute_ns += each.compute_ns;
  }
}

std::map<std::uint32_t, std::uint64_t> Balance::cut(const std::map<std::uint32_t, std::uint64_t>& batches) {
  // Everybody gets a sample, however many have come.
  const auto global_batch = std::max<std::uint64_t>(global_batch_, batches.size());
  commits_ = 0;
  double sum = 0;
  double most = 0;
  std::size_t known = 0;
  for (const auto& [number, batch] : batches) {
    auto& worker = workers_[number];
    if (worker.compute_ns > 0 && worker.samples > 0) {
      const double speed = static_cast<double>(worker.samples) / static_cast<double>(worker.compute_ns);
      worker.speed = worker.speed == 0 ? speed : (1 - newest) * worker.speed + newest * speed;
    }
    worker.samples = worker.compute_ns = 0;
    if (worker.speed == 0) continue;
    sum += worker.speed;
    most = std::max(most, worker.speed);
    ++known;
  }
  if (known == 0) return batches;
  const double mean = sum / static_cast<double>(known);
  std::vector<std::uint64_t> weights;
  for (const auto& [number, batch] : batches) {
    const double speed = workers_[number].speed == 0 ? mean : workers_[number].speed;
    weights.push_back(static_cast<std::uint64_t>(std::max(1.0, std::round(speed / most * resolution))));
  }
  const auto shares = largest_remainder(global_batch - batches.size(), weights);
  auto cut = batches;
  std::size_t i = 0;
  for (auto& [number, batch] : cut) batch = 1 + shares[i++];
  return cut;
}

}  // namespace thalweg::rules
