#include "models/network.hpp"
#include "models/registry.hpp"
#include "tools/bench/benches.hpp"
#include "tools/bench/chain.hpp"
#include "tools/bench/peak.hpp"
#include "tools/bench/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

/// From the last gradient of a round to the moment at which the last worker has adopted the new parameters, on
/// the real actors, against an empty chain of as many messages. Measured twice: with workers that compute
/// without the processor (they sleep, as with a device of their own), and with workers that train lenet5 on it.
namespace thalweg::bench {
namespace {

constexpr std::size_t workers = 4;
constexpr std::chrono::microseconds compute{2000};  ///< of the first worker that sleeps
constexpr std::chrono::microseconds later{200};     ///< each of the others ends that much after the one before

using Times = std::vector<std::chrono::nanoseconds>;

/// What happened when, by worker. Each vector is written by one thread at a time: the worker's stream, or
/// whoever runs its actor.
struct Record {
  explicit Record(std::size_t rounds) : stepped(workers), adopted(workers) {
    for (auto* times : {&stepped, &adopted}) {
      for (Times& each : *times) each.reserve(rounds + 1);
    }
  }
  std::vector<Times> stepped;  ///< ends of steps: entry r belongs to round r
  std::vector<Times> adopted;  ///< ends of handling Parameters: entry v belongs to version v
};

/// A model that notes when its steps end. Without a model inside, it has the slots of one, sleeps for a step
/// and leaves the gradient as it is.
class Watched final : public Model {
 public:
  Watched(std::unique_ptr<Model> inner, std::chrono::microseconds sleep, const Clock& clock, Times* stepped)
      : inner_(std::move(inner)), sleep_(sleep), clock_(clock), stepped_(stepped) {}

  [[nodiscard]] std::span<const Slot> slots() const override { return inner_->slots(); }
  [[nodiscard]] std::size_t input_size() const override { return inner_->input_size(); }
  [[nodiscard]] std::size_t classes() const override { return inner_->classes(); }
  void initialize(std::span<float> parameters, std::uint64_t seed) const override {
    inner_->initialize(parameters, seed);
  }
  Result<Score> step(const Input& input, std::span<const float> parameters, std::span<float> gradient_sum,
                     const SlotReady& ready) override {
    Result<Score> score = Score{0, 0, input.count()};
    if (sleep_.count() == 0) {
      score = inner_->step(input, parameters, gradient_sum, ready);
    } else {
      std::ranges::fill(gradient_sum, 1.0F);
      std::this_thread::sleep_for(sleep_);
    }
    if (stepped_ != nullptr) stepped_->push_back(clock_.now());
    return score;
  }
  Result<Score> evaluate(const Input& input, std::span<const float> parameters) override {
    return inner_->evaluate(input, parameters);
  }

 private:
  std::unique_ptr<Model> inner_;
  std::chrono::microseconds sleep_;
  const Clock& clock_;
  Times* stepped_;  ///< null: nobody wants to know
};

class AdoptTimes final : public actors::MessageSink {
 public:
  explicit AdoptTimes(Record& record) : record_(record) {}
  void handled(const Handled& message) noexcept override {
    if (message.stamp.kind != MessageKind::parameters || !message.name.starts_with('w')) return;
    record_.adopted[static_cast<std::size_t>(message.name[1] - '0')].push_back(message.ended);
  }
  void decided(const Decided&) noexcept override {}

 private:
  Record& record_;
};

/// Median over the rounds, without the first few.
double median_turnaround(const Record& record, std::size_t rounds) {
  std::vector<double> took;
  for (std::size_t round = rounds / 10; round < rounds; ++round) {
    std::chrono::nanoseconds ready{}, adopted{};
    for (std::size_t worker = 0; worker < workers; ++worker) {
      ready = std::max(ready, record.stepped[worker].at(round));
      adopted = std::max(adopted, record.adopted[worker].at(round + 1));
    }
    took.push_back(seconds(adopted - ready));
  }
  return spread_of(std::move(took)).median;
}

Result<double> run_actors(const Config& job, const models::DatasetPair& data, bool sleeping, Machine& machine,
                          const Clock& clock) {
  Record record(job.train.steps);
  std::vector<std::unique_ptr<gpu::Stream>> streams;  // outlive the models that are made on them
  const ModelFactory factory = [&]() -> Result<std::unique_ptr<Model>> {
    const std::size_t number = streams.size();
    streams.push_back(machine.device->open_stream("model"));
    const auto spec = models::find_network(job, data.train->sample_shape(), data.train->classes());
    if (!spec) return spec.error();
    auto inner = models::make_network(*spec, *machine.device, *streams.back());
    if (!inner) return inner.error();
    const bool worker = number < workers;  // the evaluator's is made last
    const auto sleep = sleeping && worker ? compute + static_cast<int>(number) * later : compute * 0;
    return std::unique_ptr<Model>(std::make_unique<Watched>(std::move(*inner), sleep, clock,
                                                            worker ? &record.stepped[number] : nullptr));
  };
  AdoptTimes sink(record);
  if (Status trained = train(job, data, factory, machine, clock, sink); !trained) return trained.error();
  return median_turnaround(record, job.train.steps);
}

/// Bytes that the last gradient of a round has to move before its parameters are there: it is added to the sum
/// (three vectors), the sum is looked through, the step reads and writes five, the result is looked through.
constexpr double vectors_moved = 3 + 1 + 5 + 1;

}  // namespace

Status bench_turnaround(const Settings& settings) {
  const std::size_t rounds = settings.small ? 3 : 50;
  const std::size_t batch = settings.small ? 4 : 16;
  const auto job = bench_job(workers, batch, rounds);
  if (!job) return job.error();
  const auto data = bench_data(settings.small);
  if (!data) return data.error();
  Machine machine;
  const auto spec = models::find_network(*job, data->pair.train->sample_shape(), data->pair.train->classes());
  if (!spec) return spec.error();
  const auto slots = models::layout_of(*spec);
  if (!slots) return slots.error();
  const std::size_t size = flat_size(*slots);
  Chain chain(*machine.device, settings.clock, machine.device->make_pool(size, 1)->take(), compute);
  Triad triad(static_cast<std::size_t>(vectors_moved) * size * sizeof(float));

  const auto actors = [&](bool sleeping) {
    return [&, sleeping] { return run_actors(*job, data->pair, sleeping, machine, settings.clock); };
  };
  const auto measured = Interleaved::measure(
      {{"actors", actors(true)},
       {"empty chain", [&]() -> Result<double> { return spread_of(chain.run(rounds)).median; }},
       {"actors", actors(false)},
       timed("triad", settings.clock, 1, [&] { triad.run(); })},
      settings.pairs);
  if (!measured) return measured.error();

  const double memory_s = measured->cost(3).median;
  for (const std::size_t subject : {std::size_t{0}, std::size_t{2}}) {
    Comparison comparison = compare(*measured, subject, 1, Sense::time);
    comparison.bench = "turnaround";
    comparison.what = fmt::format("{} workers, lenet5's {} floats, {}", workers, size,
                                  subject == 0 ? "processor free" : "processor computing lenet5");
    comparison.unit = "round's turn";
    comparison.subject = "actors";
    comparison.reference = "empty chain";
    comparison.floor = {measured->cost(1).median + memory_s,
                        fmt::format("the empty chain, and {:.2g} MB at {:.1f} GB/s", triad.bytes() / 1e6,
                                    triad.bytes() / memory_s / 1e9)};
    if (subject == 0) comparison.target = 1.5;
    settings.on_comparison(comparison);
  }
  return {};
}

}  // namespace thalweg::bench
