#include "tools/bench/benches.hpp"
#include "tools/bench/loops.hpp"
#include "tools/bench/peak.hpp"

#include <fmt/format.h>

#include <algorithm>

/// Whole rounds of training by the actors, against the same compute loops joined by a barrier, and against
/// loops that are never joined. All three cut the same batches while they run: the actors on the task pool,
/// the loops in their own threads.
namespace thalweg::bench {
namespace {

/// Multiply-adds of lenet5's forward pass, per sample: conv1, conv2, fc1, fc2, fc3.
constexpr double conv1_adds = 28 * 28 * 6 * 25;
constexpr double forward_adds = conv1_adds + 10 * 10 * 16 * 150 + 400 * 120 + 120 * 84 + 84 * 10;
/// Backward is as much again for the weights, and as much again for the inputs, but for those of conv1.
constexpr double flop_per_sample = 2 * (3 * forward_adds - conv1_adds);

struct Plan {
  std::size_t workers = 4;
  std::size_t batch = 64;
  std::size_t warm_up = 10;
  std::size_t rounds = 50;  ///< timed, after the warm-up
};

/// Takes the times at which rounds are closed. Heard on the scheduler's own actor only.
class RoundTimes final : public actors::MessageSink {
 public:
  void handled(const Handled& record) noexcept override {
    if (record.stamp.kind != MessageKind::round_closed) return;
    times_.push_back(record.ended);
  }
  void decided(const Decided&) noexcept override {}

  /// Seconds of a round, after `warm_up` of them.
  [[nodiscard]] double round_s(const Plan& plan) const {
    return seconds(times_.at(plan.warm_up + plan.rounds - 1) - times_.at(plan.warm_up - 1)) /
           static_cast<double>(plan.rounds);
  }

 private:
  std::vector<std::chrono::nanoseconds> times_;
};

Result<double> run_actors(const Config& job, const models::DatasetPair& data, const Plan& plan,
                          Machine& machine, const Clock& clock) {
  RoundTimes times;
  if (Status trained = train(job, data, {}, machine, clock, times); !trained) return trained.error();
  return times.round_s(plan);
}

}  // namespace

Status bench_rounds(const Settings& settings) {
  const Plan plan = settings.small ? Plan{2, 4, 1, 2} : Plan{};
  const auto job = bench_job(plan.workers, plan.batch, plan.warm_up + plan.rounds);
  if (!job) return job.error();
  const auto data = bench_data(settings.small);
  if (!data) return data.error();
  Machine machine;
  const std::size_t threads = std::min(plan.workers, machine.device->info().cores);
  const auto flops =
      settings.small ? Result<double>(1e9) : measured_flops(*machine.device, settings.clock, threads);
  if (!flops) return flops.error();

  const auto loops = [&](Loops kind) {
    return [&, kind] { return run_loops(kind, *job, data->pair, plan.warm_up, machine, settings.clock); };
  };
  const auto measured = Interleaved::measure(
      {{"actors", [&] { return run_actors(*job, data->pair, plan, machine, settings.clock); }},
       {"barrier loops", loops(Loops::barrier)},
       {"free loops", loops(Loops::free_running)}},
      settings.pairs);
  if (!measured) return measured.error();

  const double flop = flop_per_sample * static_cast<double>(job->global_batch());
  for (const std::size_t reference : {std::size_t{1}, std::size_t{2}}) {
    Comparison comparison = compare(*measured, 0, reference, Sense::speed);
    comparison.bench = "rounds";
    comparison.what = fmt::format("{} workers, lenet5, batch {}, {}", plan.workers, plan.batch, data->name);
    comparison.unit = "round";
    comparison.subject = "actors";
    comparison.reference = reference == 1 ? "barrier loops" : "free loops";
    comparison.floor = {flop / *flops,
                        fmt::format("{:.3g} MFLOP at {:.1f} GFLOP/s, what large matrix products "
                                    "reach on {} threads",
                                    flop / 1e6, *flops / 1e9, threads)};
    if (reference == 1) comparison.target = 0.95;
    settings.on_comparison(comparison);
  }
  return {};
}

}  // namespace thalweg::bench
