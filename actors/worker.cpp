#include "actors/worker.hpp"

#include "gpu/flat.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace thalweg::actors {

namespace {

/// How long a worker waits before it looks again for a free gradient buffer.
constexpr std::chrono::milliseconds buffer_retry{1};
/// Rounds whose mean move an eager worker keeps: the one it needs, and one that came early.
constexpr std::size_t means_kept = 3;

// Whom a worker can wait for, beside its parent.
std::string feeder() { return "feeder"; }
std::string supervisor() { return "supervisor"; }

}  // namespace

WorkerHandle::behavior_type WorkerState::start(Options options) {
  options_ = std::move(options);
  self_->name_is(worker_id(options_.number).text());
  want_batch(false);
  start_if_allowed();  // it cannot yet, and says what it waits for
  return {
      [this](const Stamp&, const Parameters& parameters) { adopt(parameters); },
      [this](const Stamp&, const Slowest& slowest) {
        hear_slowest(slowest.iterations);
        start_if_allowed();
      },
      [](const Stamp&, const Pull&) { THALWEG_CHECK(false, "leaders are pulled, workers contribute"); },
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
  options_.replica.reset();
  options_.model.reset();
}

void WorkerState::adopt(const Parameters& parameters) {
  unanswered_ = 0;
  hear_slowest(parameters.record.slowest);
  if (parameters.moves) {
    means_[parameters.record.round] = {parameters.moves, parameters.move_samples};
    if (means_.size() > means_kept) means_.erase(means_.begin());
  }
  const rules::AdoptView view{parameters_.has_value(), parameters_ ? parameters_->version() : Version{},
                              parameters.version(),    parameters_ ? parameters_->record.round : Round{},
                              parameters.record.round, comes_early(parameters)};
  const auto decision = options_.method.adopt.decide(view);
  self_->note(decision.reason);
  if (!parameters_) next_round_ = parameters.begins.value_or(parameters.record.round);
  if (decision.action == rules::AdoptAction::take) {
    fresh_ = fresh_ || !parameters_ || parameters.version() != parameters_->version();
    parameters_ = parameters;
    parameters_->moves = nullptr;  // kept above
  }
  if (decision.action == rules::AdoptAction::later) {
    early_ = parameters;
    early_->moves = nullptr;  // likewise
  }
  start_if_allowed();
}

/// Who comes later, or has had nothing to compute on, is as far as the slowest.
void WorkerState::hear_slowest(std::uint64_t iterations) {
  slowest_ = std::max(slowest_, iterations);
  const bool nobody_runs = slowest_ == std::numeric_limits<std::uint64_t>::max();
  if (!nobody_runs) pace_clock_ = std::max(pace_clock_, slowest_);
}

/// One behind, round r begins at the parameters that opened round r - 1, also when its batch is late and
/// those that open r itself are here: every gradient of a round has the same age, and the same seed the same
/// bits.
bool WorkerState::comes_early(const Parameters& parameters) const {
  const auto& pace = options_.method.pace;
  return pace.kind == rules::PaceRule::Kind::one_behind && next_round_.value >= pace.warmup_rounds &&
         !in_phase() && !current_ && !parameters.record.last && parameters.record.round >= next_round_;
}

void WorkerState::take(const Batch& batch) {
  THALWEG_CHECK(!next_, "a worker asks for a batch when it has none waiting");
  next_ = batch;
  start_if_allowed();
}

void WorkerState::want_batch(bool patient) {
  self_->tell(options_.feeder, WantBatch{options_.number, WorkerHandle(self_), patient});
}

// -- a step
// ----------------------------------------------------------------------------------------------------

void WorkerState::start_if_allowed() {
  if (stopping_ || current_ || ending_phase_) return;
  if (phase_over_) return end_phase();
  if (parameters_ && parameters_->record.last) {
    return self_->waits_for(supervisor, {"waits for the end of the run: version {} was the last",
                                         {parameters_->version().value}});
  }
  if (!next_) return self_->waits_for(feeder, {"waits for its next batch"});
  if (!parameters_) return self_->waits_for(parent(), {"waits for the first parameters"});
  const bool empty = next_->range.count == 0;
  if (empty && !options_.method.planned() && (in_phase() || !options_.method.by_rounds())) return rest();
  // What was refused is tried alone, so that it spoils nothing else.
  if (in_phase() && next_->again && !options_.method.planned()) return end_phase();
  if (!in_phase() && !may_begin()) return;
  if (!empty && !take_buffers()) return;
  self_->goes_on();
  resting_ = false;
  current_ = std::move(next_);
  next_.reset();
  if (!in_phase()) {
    phase_.round = options_.method.planned() ? current_->round : next_round_;
    phase_.base = parameters_->version();
  }
  // Asked for now, the next batch is cut while this one computes.
  want_batch(false);
  if (!empty) compute();
  if (early_) adopt(*std::exchange(early_, std::nullopt));
  if (empty) step_done({});
}

/// Nothing is there to compute on, for now: what there is of a phase goes up, and whoever waits for the
/// slowest worker need not wait for this one.
void WorkerState::rest() {
  next_.reset();
  want_batch(!options_.method.by_rounds());
  if (in_phase()) return end_phase();
  if (options_.method.tells_rest() && !std::exchange(resting_, true)) {
    const bool gap = options_.method.pace.kind == rules::PaceRule::Kind::stale;
    self_->tell(options_.parent, Progress{worker_id(options_.number), gap ? pace_clock_ : clock_,
                                          parameters_->version(), true});
  }
  self_->waits_for(feeder, {"waits for a batch: none is left, for now"});
}

/// Whether the pace lets the next phase begin.
bool WorkerState::may_begin() {
  // Where rounds are not planned a worker takes part in the next one that it can.
  if (options_.method.pace.kind == rules::PaceRule::Kind::lockstep) {
    next_round_ = std::max(next_round_, parameters_->record.round);
  }
  const auto round = options_.method.planned() ? next_->round : next_round_;
  const auto decision =
      options_.method.pace.may_start({round, parameters_->record.round, unanswered_, pace_clock_, slowest_});
  self_->note(decision.reason);
  if (decision.action == rules::PaceAction::start) return true;
  self_->waits_for(parent(), decision.reason);
  return false;
}

bool WorkerState::take_buffers() {
  gradient_ = options_.gradients->take();
  if (gradient_) return true;
  const rules::Reason why{"waits for its parent to let go of a gradient before iteration {}", {clock_ + 1}};
  self_->note(why);
  self_->waits_for(parent(), why);
  if (!std::exchange(retrying_, true)) self_->tell_later(WorkerHandle(self_), buffer_retry, Tick{});
  return false;
}

/// What the stream is given to do: a step, or, without a batch, the phase's move.
struct WorkerState::Work {
  Model* model = nullptr;
  Replica* replica = nullptr;  ///< null: the gradient is taken at `parameters`
  Parameters parameters;
  bool fresh = false;   ///< the replica has not seen them
  bool begins = false;  ///< a phase begins
  Replica::Mean behind;
  std::shared_ptr<const BatchData> data;
  std::shared_ptr<gpu::Buffer> gradient;
  std::shared_ptr<gpu::Buffer> sum;  ///< of the phase's gradients before; null: none, or not wanted
  std::uint64_t samples = 0;         ///< of the phase, for its move
  StepDone done;

  Status run(const Clock& clock) {
    if (!data) {
      replica->move(gradient->values(), samples);
      done.norm = std::sqrt(gpu::squared_norm(gradient->host()));
      return {};
    }
    if (replica != nullptr && begins) {
      replica->begin(fresh ? &parameters : nullptr, behind);
    } else if (replica != nullptr && fresh) {
      replica->adopt(parameters);
    }
    const auto began = clock.now();
    const auto at = replica != nullptr ? replica->values() : parameters.payload->host();
    auto score = model->step(data->input(), at, gradient->values(), [](std::size_t) {});
    done.compute_ns = static_cast<std::uint64_t>((clock.now() - began).count());
    if (!score) return score.error();
    done.score = *score;
    // Here the vector is still in this core's cache, and all workers measure at the same time.
    if (replica != nullptr || !sum) done.norm = std::sqrt(gpu::squared_norm(gradient->host()));
    if (replica != nullptr) replica->step(gradient->host(), score->samples, std::isfinite(done.norm));
    if (sum) {
      gpu::axpy(sum->values(), 1.0F, gradient->host());
      done.norm = std::sqrt(gpu::squared_norm(sum->host()));
    }
    return {};
  }
};

void WorkerState::compute() {
  auto work = std::make_shared<Work>();
  work->model = options_.model.get();
  work->replica = options_.replica.get();
  work->parameters = *parameters_;
  work->begins = !in_phase();
  // Moves are measured from where a phase began, so nothing new comes in between.
  if (work->begins || options_.method.sends == rules::Sends::gradients)
    work->fresh = std::exchange(fresh_, false);
  if (work->begins) work->behind = mean_behind();
  work->data = current_->data;
  work->gradient = gradient_;
  work->sum = phase_.sum;
  submit(std::move(work));
}

void WorkerState::submit(std::shared_ptr<Work> work) {
  const Stamp stamp = self_->stamp_for<StepDone>();
  options_.stream->submit([work, &clock = self_->clock()](gpu::Stream&) { return work->run(clock); },
                          [work, stamp, self = WorkerHandle(self_), &context = self_->context(),
                           name = self_->own_name()](Status status) {
                            if (!status) work->done.failure = status.error().text;
                            post(context, name, self, stamp, std::move(work->done));
                          });
}

/// Eager: of the round before the one contributed to last. Its parameters opened that one.
Replica::Mean WorkerState::mean_behind() const {
  if (phase_.round.value == 0) return {};
  const auto found = means_.find(Round{phase_.round.value - 1});
  return found == means_.end() ? Replica::Mean{} : found->second;
}

// -- what came of it
// -------------------------------------------------------------------------------------------

void WorkerState::step_done(const StepDone& done) {
  if (!done.failure.empty()) {
    self_->tell(options_.supervisor,
                Failed{self_->own_name(), done.failure, false, worker_id(options_.number)});
    stopping_ = true;
  }
  if (stopping_) {
    gradient_.reset();
    current_.reset();
    ending_phase_ = false;
    return stop();
  }
  if (std::exchange(ending_phase_, false)) {
    phase_.sum = std::move(gradient_);
    phase_.norm = done.norm;
    return contribute();
  }
  const Batch batch = std::move(*current_);
  current_.reset();
  if (batch.range.count > 0) {
    ++clock_;
    ++pace_clock_;
    ++phase_.steps;
    phase_.samples += batch.range.count;
    phase_.batch = std::max(phase_.batch, batch.range.count);
    phase_.spent.push_back(batch.range);
    phase_.score += done.score;
    phase_.compute_ns += done.compute_ns;
    phase_.serial = batch.serial;
    phase_.norm = done.norm;
    phase_.again = phase_.again || batch.again;
    // The first gradient of a phase is where the others are added.
    const bool sums = options_.method.sends == rules::Sends::gradients;
    if (sums && !phase_.sum) phase_.sum = std::move(gradient_);
    gradient_.reset();
  }
  const auto decision =
      options_.method.local.after_step({phase_.steps, phase_.round, parameters_->record.round, batch.last});
  self_->note(decision.reason);
  const bool alone = batch.again && !options_.method.planned();
  if (decision.action == rules::LocalAction::contribute || batch.range.count == 0 || alone)
    return end_phase();
  start_if_allowed();
}

/// The phase is over: where moves are sent, the stream works its move out first.
void WorkerState::end_phase() {
  phase_over_ = true;
  if (options_.method.sends == rules::Sends::gradients || phase_.samples == 0) return contribute();
  if (!take_buffers()) return;
  self_->goes_on();
  ending_phase_ = true;
  auto work = std::make_shared<Work>();
  work->replica = options_.replica.get();
  work->gradient = gradient_;
  work->samples = phase_.samples;
  submit(std::move(work));
}

void WorkerState::contribute() {
  Contribution contribution;
  contribution.origin = contribution.via = worker_id(options_.number);
  contribution.incarnation = self_->context().incarnation;
  contribution.seq = contributions_++;
  contribution.round = phase_.round;
  contribution.base_version = phase_.base;
  contribution.samples = phase_.samples;
  contribution.batch = phase_.batch;
  contribution.steps = contribution.iterations = phase_.steps;
  for (const auto& range : phase_.spent) append_range(contribution.spent, range);
  contribution.score = phase_.score;
  contribution.compute_ns = phase_.compute_ns;
  if (phase_.steps > 0) {
    contribution.work.push_back(
        {options_.number, phase_.samples, phase_.steps, phase_.compute_ns, pace_clock_});
  }
  contribution.serial = phase_.serial;
  contribution.norm = phase_.norm;
  contribution.again = phase_.again;
  contribution.payload = std::move(phase_.sum);
  next_round_ = phase_.round.next();
  phase_ = {};
  phase_over_ = false;
  ++unanswered_;
  self_->tell(options_.parent, std::move(contribution));
  start_if_allowed();
}

void WorkerState::stop() {
  stopping_ = true;
  if (current_ || ending_phase_) return;  // the stream is at work; StepDone comes back here
  self_->leave(options_.supervisor);
}

}  // namespace thalweg::actors
