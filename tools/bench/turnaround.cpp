#include "models/network.hpp"
#include "models/registry.hpp"
#include "tools/bench/benches.hpp"
#include "tools/bench/empty_tree.hpp"
#include "tools/bench/peak.hpp"
#include "tools/bench/training.hpp"
#include "tools/bench/turns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

/// From the last gradient of a round to the moment at which the last worker has adopted the new parameters,
/// on the real actors, against an empty chain of as many messages. Measured twice: with workers that compute
/// without the processor (they sleep, as with a device of their own), and with workers that train lenet5 on
/// it.
namespace thalweg::bench {
namespace {

constexpr std::size_t workers = 4;
constexpr std::chrono::microseconds compute{2000};  ///< of the first worker that sleeps
constexpr std::chrono::microseconds later{200};  ///< each of the others ends that much after the one before

/// A model that notes when its steps end. Without a model inside, it has the slots of one, sleeps for a step
/// and leaves the gradient as it is.
class Watched final : public Model {
 public:
  Watched(std::unique_ptr<Model> inner, std::chrono::microseconds sleep, const Clock& clock,
          Turns::Times* ready)
      : inner_(std::move(inner)), sleep_(sleep), clock_(clock), ready_(ready) {}

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
    if (ready_ != nullptr) ready_->push_back(clock_.now());
    return score;
  }
  Result<Score> evaluate(const Input& input, std::span<const float> parameters) override {
    return inner_->evaluate(input, parameters);
  }

 private:
  std::unique_ptr<Model> inner_;
  std::chrono::microseconds sleep_;
  const Clock& clock_;
  Turns::Times* ready_;  ///< null: nobody wants to know
};

/// Takes the times at which workers have handled parameters; the first ones, which no gradient led to, aside.
class AdoptTimes final : public actors::MessageSink {
 public:
  explicit AdoptTimes(Turns& turns) : turns_(turns), first_(workers, true) {}
  void handled(const Handled& message) noexcept override {
    if (message.stamp.kind != MessageKind::parameters || !message.name.starts_with('w')) return;
    const auto worker = static_cast<std::size_t>(message.name[1] - '0');
    if (first_[worker] != 0) {
      first_[worker] = 0;
    } else {
      turns_.adopted[worker].push_back(message.ended);
    }
  }
  void decided(const Decided&) noexcept override {}

 private:
  Turns& turns_;
  std::vector<char> first_;  ///< by worker: nothing came yet
};

Result<double> run_actors(const Config& job, const models::DatasetPair& data, bool sleeping, Machine& machine,
                          const Clock& clock) {
  Turns turns(workers, job.train.steps);
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
    return std::unique_ptr<Model>(
        std::make_unique<Watched>(std::move(*inner), sleep, clock, worker ? &turns.ready[number] : nullptr));
  };
  AdoptTimes sink(turns);
  if (Status trained = train(job, data, factory, machine, clock, sink); !trained) return trained.error();
  return turns.median_s(job.train.steps);
}

/// Vectors that the last gradient of a round has to move before its parameters are there: its norm is taken
/// (one), it is added to the sum (three), the sum is looked through (one), the step reads and writes five,
/// the result is looked through (one).
constexpr double vectors_moved = 1 + 3 + 1 + 5 + 1;
/// Passes over as many bytes, for the rate at which caches that already hold them deliver.
constexpr int triads = 100;

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
  const Payload payload = machine.device->make_pool(size, 1)->take();
  EmptyTree chain(*machine.device, settings.clock, {1, compute, later, payload});
  EmptyTree tree(*machine.device, settings.clock, {workers, compute, later, payload});
  Triad triad(static_cast<std::size_t>(vectors_moved) * size * sizeof(float));

  const auto actors = [&](bool sleeping) {
    return [&, sleeping] { return run_actors(*job, data->pair, sleeping, machine, settings.clock); };
  };
  const auto empty = [rounds](EmptyTree& of) {
    return [&of, rounds]() -> Result<double> { return of.run(rounds); };
  };
  const auto measured = Interleaved::measure({{"actors", actors(true)},
                                              {"empty chain", empty(chain)},
                                              {"empty tree", empty(tree)},
                                              {"actors, computing", actors(false)},
                                              timed("triad", settings.clock, triads,
                                                    [&] {
                                                      for (int i = 0; i < triads; ++i) triad.run();
                                                    })},
                                             settings.pairs);
  if (!measured) return measured.error();

  const double memory_s = measured->cost(4).median;
  for (const auto& [subject, reference] : {std::pair{0, 1}, std::pair{0, 2}, std::pair{3, 1}}) {
    Comparison comparison = compare(*measured, static_cast<std::size_t>(subject),
                                    static_cast<std::size_t>(reference), Sense::time);
    comparison.bench = "turnaround";
    comparison.what = fmt::format("{} workers, lenet5's {} floats, processor {}", workers, size,
                                  subject == 0 ? "free" : "computing");
    comparison.unit = "turn";
    comparison.subject = "actors";
    comparison.reference = reference == 1 ? "empty chain" : fmt::format("empty tree of {}", workers);
    comparison.floor = {measured->cost(1).median + memory_s,
                        fmt::format("the empty chain, and {:.2g} MB at {:.1f} GB/s", triad.bytes() / 1e6,
                                    triad.bytes() / memory_s / 1e9)};
    if (subject == 0 && reference == 1) comparison.target = 1.5;
    settings.on_comparison(comparison);
  }
  return {};
}

}  // namespace thalweg::bench
