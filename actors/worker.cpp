#include "actors/worker.hpp"

#include "gpu/flat.hpp"

#include <chrono>
#include <cmath>
#include <string>
#include <utility>

namespace thalweg::actors {

namespace {

/// How long a worker waits before it looks again for a free gradient buffer.
constexpr std::chrono::milliseconds buffer_retry{1};

// Whom a worker can wait for, beside its parent.
std::string feeder() { return "feeder"; }
std::string supervisor() { return "supervisor"; }

}  // namespace

WorkerHandle::behavior_type WorkerState::start(Options options) {
  options_ = std::move(options);
  self_->name_is(worker_id(options_.number).text());
  local_ = options_.method.local();
  pace_ = options_.method.pace();
  adopt_ = options_.method.adopt();
  self_->tell(options_.feeder, WantBatch{options_.number, WorkerHandle(self_)});
  start_if_allowed();  // it cannot yet, and says what it waits for
  return {
      [this](const Stamp&, const Parameters& parameters) { adopt(parameters); },
      [this](const Stamp&, const Stop&) { stop(); },
      [this](const Stamp&, const Batch& batch) { take(batch); },
      [this](const Stamp&, const StepDone& done) { step_done(done); },
      [this](const Stamp&, const Tick&) {
        retrying_ = false;
        start_if_allowed();
      },
  };
}

WorkerState::~WorkerState() {
  // The stream's work uses the model, and the model may free what it has on the stream: work, model, stream.
  if (options_.stream) (void)options_.stream->record().wait();
  options_.model.reset();
}

void WorkerState::adopt(const Parameters& parameters) {
  const rules::AdoptView view{parameters_.has_value(), parameters_ ? parameters_->version() : Version{},
                              parameters.version(), parameters_ ? parameters_->record.round : Round{},
                              parameters.record.round};
  const auto decision = adopt_->decide(view);
  self_->note(decision.reason);
  if (decision.action == rules::AdoptAction::ignore) return;
  parameters_ = parameters;
  start_if_allowed();
}

void WorkerState::take(const Batch& batch) {
  THALWEG_CHECK(!next_, "a worker asks for a batch when it has none waiting");
  next_ = batch;
  start_if_allowed();
}

void WorkerState::start_if_allowed() {
  if (stopping_ || current_) return;
  if (parameters_ && parameters_->record.last) {
    return self_->waits_for(supervisor, {"waits for the end of the run: version {} was the last",
                                         {parameters_->version().value}});
  }
  if (!next_) return self_->waits_for(feeder, {"waits for its next batch"});
  if (!parameters_) return self_->waits_for(parent(), {"waits for the first parameters"});
  const auto decision = pace_->may_start({next_->round, parameters_->record.round});
  self_->note(decision.reason);
  if (decision.action == rules::PaceAction::wait) return self_->waits_for(parent(), decision.reason);

  if (next_->range.count > 0) {
    gradient_ = options_.gradients->take();
    if (!gradient_) {
      const rules::Reason why{"waits for its parent to let go of a gradient before round {}",
                              {next_->round.value}};
      self_->note(why);
      self_->waits_for(parent(), why);
      if (!std::exchange(retrying_, true)) self_->tell_later(WorkerHandle(self_), buffer_retry, Tick{});
      return;
    }
  }
  self_->goes_on();
  current_ = std::move(next_);
  next_.reset();
  base_version_ = parameters_->version();
  // Asked for now, the next batch is cut while this one computes.
  self_->tell(options_.feeder, WantBatch{options_.number, WorkerHandle(self_)});
  if (current_->range.count > 0) {
    compute(*current_, gradient_);
  } else {
    step_done({});
  }
}

void WorkerState::compute(const Batch& batch, std::shared_ptr<gpu::Buffer> gradient) {
  auto done = std::make_shared<StepDone>();
  const Stamp stamp = self_->stamp_for<StepDone>();
  options_.stream->submit(
      [done, gradient = std::move(gradient), data = batch.data, parameters = parameters_->payload,
       model = options_.model.get(), &clock = self_->clock()](gpu::Stream&) -> Status {
        const auto began = clock.now();
        auto score = model->step(data->input(), parameters->host(), gradient->values(), [](std::size_t) {});
        done->compute_ns = static_cast<std::uint64_t>((clock.now() - began).count());
        if (!score) return score.error();
        done->score = *score;
        // Here the vector is still in this core's cache, and all workers measure at the same time.
        done->norm = std::sqrt(gpu::squared_norm(gradient->host()));
        return {};
      },
      [done, stamp, self = WorkerHandle(self_), &context = self_->context(),
       name = self_->own_name()](Status status) {
        if (!status) done->failure = status.error().text;
        post(context, name, self, stamp, std::move(*done));
      });
}

void WorkerState::step_done(const StepDone& done) {
  if (!done.failure.empty()) {
    self_->tell(options_.supervisor,
                Failed{self_->own_name(), done.failure, false, worker_id(options_.number)});
    stopping_ = true;
  } else if (!stopping_) {
    const auto decision = local_->after_step({1});
    self_->note(decision.reason);
    THALWEG_CHECK(decision.action == rules::LocalAction::contribute,
                  "every local rule ends in a contribution");
    contribute(done);
  }
  gradient_.reset();
  current_.reset();
  if (stopping_) {
    stop();
  } else {
    start_if_allowed();
  }
}

void WorkerState::contribute(const StepDone& done) {
  const auto& range = current_->range;
  Contribution contribution;
  contribution.origin = worker_id(options_.number);
  contribution.incarnation = self_->context().incarnation;
  contribution.seq = contributions_++;
  contribution.round = current_->round;
  contribution.base_version = base_version_;
  contribution.samples = range.count;
  contribution.batch = range.count;
  contribution.steps = range.count > 0 ? 1 : 0;
  contribution.iterations = contribution.steps;
  if (range.count > 0) contribution.spent.push_back(range);
  contribution.score = done.score;
  contribution.compute_ns = done.compute_ns;
  contribution.norm = done.norm;
  contribution.again = current_->again;
  contribution.payload = std::move(gradient_);
  self_->tell(options_.parent, std::move(contribution));
}

void WorkerState::stop() {
  stopping_ = true;
  if (current_) return;  // the stream is at work; StepDone comes back here
  self_->leave(options_.supervisor);
}

}  // namespace thalweg::actors
