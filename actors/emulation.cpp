#include "actors/emulation.hpp"

#include "runtime/check.hpp"
#include "runtime/config/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

namespace thalweg::actors {

namespace {

/// Steps that worker 0 computes: the first ones are slow, since memory and caches are still cold.
constexpr int tries = 4;

double slow_of(const Config& config, std::size_t index) {
  const auto name = worker_id(static_cast<std::uint32_t>(index)).text();
  for (const auto& [worker, factor] : config.emulate.slow) {
    if (worker == name) return factor;
  }
  return 1;
}

double step_s(const Config& config) { return seconds(config.emulate.step); }

/// The shortest of a few steps of worker 0.
Result<std::chrono::nanoseconds> real_step(Assembly& assembly, const Payload& parameters,
                                           const Clock& clock) {
  const auto& worker = assembly.workers.front();
  const auto& train = *assembly.data.train;
  std::vector<std::uint32_t> indices(assembly.config.batch_of(0));  // no more than there are
  std::iota(indices.begin(), indices.end(), 0U);
  BatchData batch;
  train.read(indices, batch);
  const auto gradient = assembly.make_pool(1)->take();
  auto shortest = std::chrono::nanoseconds::max();
  Status status;
  for (int i = 0; i < tries && status.ok(); ++i) {
    worker.stream->submit(
        [&](gpu::Stream&) -> Status {
          const auto began = clock.now();
          const auto score =
              worker.model->step(batch.input(), parameters->host(), gradient->values(), [](std::size_t) {});
          if (!score) return score.error();
          shortest = std::min(shortest, clock.now() - began);
          return {};
        },
        [&](Status done) { status = std::move(done); });
    (void)worker.stream->record().wait();  // what failed is in `status`
  }
  if (!status) return Error{status.error().code, "emulate.step: a first step failed: " + status.error().text};
  return shortest;
}

}  // namespace

bool emulates_workers(const Config& config) {
  return config.emulate.step.count() > 0 || !config.emulate.slow.empty();
}

StepLength step_length(const Config& config, std::size_t index) {
  return {step_s(config) / static_cast<double>(config.batch_of(index)), slow_of(config, index)};
}

double speed_alone(const Config& config) {
  if (config.emulate.step.count() == 0) return 0;
  double speed = 0;
  for (std::size_t i = 0; i < config.topology.workers; ++i) {
    speed += static_cast<double>(config.batch_of(i)) / (step_s(config) * slow_of(config, i));
  }
  return speed;
}

Status check_real_compute(const Config& config, std::chrono::nanoseconds real, std::size_t cores) {
  // What computes at one moment is samples per second times seconds per sample, whoever computes them.
  const double sample_s = seconds(real) / static_cast<double>(config.batch_of(0));
  const double busy = speed_alone(config) * sample_s;
  const double allowed = real_compute_max * static_cast<double>(std::max<std::size_t>(cores, 1));
  if (busy <= allowed) return {};
  const double long_enough_ms = std::ceil(step_s(config) * 1e3 * busy / allowed);
  return Error{
      ErrorCode::invalid,
      fmt::format("emulate.step: {} workers really compute on {:.2f} cores, and only {:.2f} ({:.0f} % of {}) "
                  "leave steps their length: give \"{:.0f}ms\" or more, or fewer workers",
                  config.topology.workers, busy, allowed, real_compute_max * 100, cores, long_enough_ms)};
}

void emulate(Compute& compute, const Config& config, std::size_t worker, const Clock& clock) {
  compute.model = std::make_unique<EmulatedModel>(
      std::move(compute.model), step_length(config, worker), clock,
      [](std::chrono::nanoseconds time) { std::this_thread::sleep_for(time); });
}

Status emulate_workers(Assembly& assembly, const Payload& parameters, const Clock& clock, std::size_t cores) {
  const Config& config = assembly.config;
  if (!emulates_workers(config)) return {};
  if (config.emulate.step.count() > 0) {
    const auto real = real_step(assembly, parameters, clock);
    if (!real) return real.error();
    if (Status enough = check_real_compute(config, *real, cores); !enough) return enough;
  }
  for (std::size_t i = 0; i < assembly.workers.size(); ++i) {
    emulate(assembly.workers[i], config, i, clock);
  }
  return {};
}

std::string emulation_text(const Config& config) {
  const auto& emulate = config.emulate;
  std::vector<std::string> parts;
  if (emulate.step.count() > 0) parts.push_back("a step takes " + config::duration_text(emulate.step));
  for (const auto& [worker, factor] : emulate.slow) {
    parts.push_back(fmt::format("{} {} times as long", worker, factor));
  }
  std::vector<std::string> of_links;
  if (emulate.delay_ms > 0) of_links.push_back(fmt::format("take {} ms", emulate.delay_ms));
  if (emulate.rate_mbit > 0) of_links.push_back(fmt::format("carry {} Mbit/s", emulate.rate_mbit));
  if (!of_links.empty()) parts.push_back(fmt::format("links into the root {}", fmt::join(of_links, " and ")));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace thalweg::actors
