#include "tools/bench/loops.hpp"

#include "actors/batch_cutter.hpp"
#include "gpu/flat.hpp"
#include "models/optimizer.hpp"

#include <atomic>
#include <barrier>
#include <utility>

namespace thalweg::bench {
namespace {

/// What the loops share. With a barrier, only who comes last writes to it, while the others wait.
class Yard {
 public:
  Yard(Loops kind, const Config& job, actors::Assembly assembly, std::unique_ptr<models::Optimizer> optimizer,
       std::size_t warm_up, const Clock& clock)
      : kind_(kind),
        lr_(job.train.lr),
        samples_(job.global_batch()),
        rounds_(job.train.steps),
        warm_up_(warm_up),
        clock_(clock),
        assembly_(std::move(assembly)),
        optimizer_(std::move(optimizer)),
        cutter_(assembly_.data.train, job.run.seed),
        barrier_(static_cast<std::ptrdiff_t>(assembly_.workers.size()), AfterRound{this}) {
    const std::size_t workers = assembly_.workers.size();
    const auto pool = assembly_.make_pool(workers + 3);
    for (std::size_t i = 0; i < workers; ++i) gradients_.push_back(pool->take());
    for (auto* buffer : {&w_, &next_, &sum_}) *buffer = pool->take();
    assembly_.evaluator.model->initialize(w_->values(), job.run.seed);
    for (const auto& gradient : gradients_) sources_.push_back(gradient->host().data());
  }

  Result<double> run() {
    for (std::size_t i = 0; i < assembly_.workers.size(); ++i) {
      assembly_.workers[i].stream->submit([this, i](gpu::Stream&) { return loop(i); }, [](const Status&) {});
    }
    for (const auto& worker : assembly_.workers) {
      if (Status done = worker.stream->record().wait(); !done) return done.error();
    }
    return seconds(ended_ - began_) / static_cast<double>(rounds_ - warm_up_);
  }

 private:
  struct AfterRound {
    Yard* yard;
    void operator()() noexcept { yard->after_round(); }
  };

  Status loop(std::size_t worker) {
    Status failure;
    for (std::size_t round = 0; round < rounds_; ++round) {
      const auto share = assembly_.sampling->share(Round{round});
      const auto batch = cutter_.cut(share.ranges[worker]);
      auto score = assembly_.workers[worker].model->step(batch->input(), w_->host(),
                                                         gradients_[worker]->values(), [](std::size_t) {});
      if (!score && failure.ok()) failure = score.error();
      // Without joining, the loops meet only where the time is taken.
      if (kind_ == Loops::barrier || round + 1 == warm_up_ || round + 1 == rounds_)
        barrier_.arrive_and_wait();
    }
    return failure;
  }

  void after_round() {
    if (kind_ == Loops::barrier) {
      gpu::weighted_sum(sum_->values(), sources_, {}, false);
      optimizer_->step(next_->values(), w_->host(), sum_->host(), 1.0 / static_cast<double>(samples_), lr_,
                       nullptr);
      std::swap(w_, next_);
      ++joined_;
    } else {
      joined_ = joined_ == 0 ? warm_up_ : rounds_;
    }
    if (joined_ == warm_up_) began_ = clock_.now();
    if (joined_ == rounds_) ended_ = clock_.now();
  }

  const Loops kind_;
  const double lr_;
  const std::uint64_t samples_;
  const std::size_t rounds_;
  const std::size_t warm_up_;
  const Clock& clock_;
  actors::Assembly assembly_;
  std::unique_ptr<models::Optimizer> optimizer_;
  actors::BatchCutter cutter_;
  std::vector<std::shared_ptr<gpu::Buffer>> gradients_;
  std::vector<const float*> sources_;
  std::shared_ptr<gpu::Buffer> w_, next_, sum_;
  std::size_t joined_ = 0;  ///< rounds
  std::chrono::nanoseconds began_{}, ended_{};
  std::barrier<AfterRound> barrier_;
};

}  // namespace

Result<double> run_loops(Loops kind, const Config& job, const models::DatasetPair& data, std::size_t warm_up,
                         Machine& machine, const Clock& clock) {
  auto assembly = actors::assemble(job, data, {machine.device.get(), &machine.pool, {}, std::nullopt});
  if (!assembly) return assembly.error();
  auto optimizer = models::make_optimizer(job.train, assembly->slots);
  if (!optimizer) return optimizer.error();
  return Yard(kind, job, std::move(*assembly), std::move(*optimizer), warm_up, clock).run();
}

}  // namespace thalweg::bench
