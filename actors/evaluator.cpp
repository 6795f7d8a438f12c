#include "actors/evaluator.hpp"

#include "models/evaluate.hpp"

#include <utility>

namespace thalweg::actors {

EvaluatorHandle::behavior_type EvaluatorState::start(Options options) {
  options_ = std::move(options);
  self_->name_is("evaluator");
  return {
      [this](const Stamp&, const Evaluate& request) {
        waiting_.push_back(request);
        begin_next();
      },
      [this](const Stamp&, const StepDone& step) { done(step); },
      [this](const Stamp&, const Stop&) { stop(); },
  };
}

EvaluatorState::~EvaluatorState() {
  // The stream's work uses the model, and the model may free what it has on the stream: work, model, stream.
  if (options_.stream) (void)options_.stream->record().wait();
  options_.model.reset();
}

void EvaluatorState::begin_next() {
  if (current_ || waiting_.empty() || stopping_) return;
  current_ = std::move(waiting_.front());
  waiting_.pop_front();
  auto result = std::make_shared<StepDone>();
  const Stamp stamp = self_->stamp_for<StepDone>();
  options_.stream->submit(
      [result, data = options_.data, parameters = current_->parameters,
       model = options_.model.get()](gpu::Stream&) -> Status {
        auto score = models::evaluate(*model, *data, parameters->host());
        if (!score) return score.error();
        result->score = *score;
        return {};
      },
      [result, stamp, self = EvaluatorHandle(self_), &context = self_->context(),
       name = self_->own_name()](Status status) {
        if (!status) result->failure = status.error().text;
        post(context, name, self, stamp, std::move(*result));
      });
}

void EvaluatorState::done(const StepDone& step) {
  const auto request = std::exchange(current_, std::nullopt).value();
  if (stopping_) return stop();
  self_->tell(request.answer_to, Evaluation{request.version, request.committed_samples, step.score,
                                            step.failure, request.parameters});
  begin_next();
}

void EvaluatorState::stop() {
  stopping_ = true;
  waiting_.clear();
  if (current_) return;  // the stream is at work; StepDone comes back here
  self_->leave(options_.supervisor);
}

}  // namespace thalweg::actors
