#include "actors/log_fields.hpp"

#include "actors/messages.hpp"

namespace thalweg::actors {
namespace {

using journal::RecordNumbers;

template <class Number>
std::int64_t signed_of(Number number) {
  return static_cast<std::int64_t>(number);
}
std::int64_t bytes_of(const Payload& payload) {
  return payload ? signed_of(payload->bytes()) : RecordNumbers::none;
}

LogFields fields_of(const Batch& batch) {
  LogFields fields;
  fields.numbers.round = signed_of(batch.round.value);
  fields.numbers.samples = signed_of(batch.range.count);
  return fields;
}
LogFields fields_of(const Contribution& contribution) {
  LogFields fields;
  fields.numbers = {signed_of(contribution.round.value), signed_of(contribution.base_version.value),
                    signed_of(contribution.iterations),  signed_of(contribution.samples),
                    bytes_of(contribution.payload),      signed_of(contribution.compute_ns)};
  return fields;
}
LogFields fields_of(const Parameters& parameters) {
  LogFields fields;
  fields.numbers.round = signed_of(parameters.record.round.value);
  fields.numbers.version = signed_of(parameters.version().value);
  fields.numbers.samples = signed_of(parameters.record.committed_samples);
  fields.numbers.bytes = bytes_of(parameters.payload);
  return fields;
}
LogFields fields_of(const StepDone& done) {
  LogFields fields;
  fields.numbers.samples = signed_of(done.score.samples);
  fields.numbers.span_ns = signed_of(done.compute_ns);
  fields.text = done.failure;
  return fields;
}
LogFields fields_of(const Progress& progress) {
  LogFields fields;
  fields.numbers.iteration = signed_of(progress.iterations);
  fields.numbers.version = signed_of(progress.oldest.value);
  return fields;
}
LogFields fields_of(const Pull& pull) {
  LogFields fields;
  fields.numbers.round = signed_of(pull.round.value);
  fields.numbers.version = signed_of(pull.version.value);
  return fields;
}
LogFields fields_of(const RoundClosed& closed) {
  LogFields fields;
  fields.numbers.round = signed_of(closed.round.value);
  return fields;
}
LogFields fields_of(const Committed& committed) {
  LogFields fields;
  fields.numbers.round = signed_of(committed.record.round.value) - 1;
  fields.numbers.version = signed_of(committed.record.version.value);
  fields.numbers.samples = signed_of(committed.score.samples);
  fields.numbers.span_ns = signed_of(committed.compute_ns);
  return fields;
}
LogFields fields_of(const Evaluate& evaluate) {
  LogFields fields;
  fields.numbers.version = signed_of(evaluate.version.value);
  return fields;
}
LogFields fields_of(const Evaluation& evaluation) {
  LogFields fields;
  fields.numbers.version = signed_of(evaluation.version.value);
  fields.numbers.samples = signed_of(evaluation.score.samples);
  fields.text = evaluation.failure;
  return fields;
}
LogFields fields_of(const CheckpointDone& done) {
  LogFields fields;
  fields.numbers.version = signed_of(done.version.value);
  fields.text = done.failure;
  return fields;
}
LogFields fields_of(const Closing& closing) { return {{}, closing.failure}; }
/// Why somebody is lost, refused, or cannot go on.
template <class Body>
requires requires(const Body& body) { body.why; }
LogFields fields_of(const Body& body) { return {{}, body.why}; }

template <class Body>
LogFields fields_at(const void* body) {
  return fields_of(*static_cast<const Body*>(body));
}

}  // namespace

LogFields log_fields(MessageKind kind, const void* body) {
  switch (kind) {
    case MessageKind::batch:
      return fields_at<Batch>(body);
    case MessageKind::contribution:
      return fields_at<Contribution>(body);
    case MessageKind::parameters:
      return fields_at<Parameters>(body);
    case MessageKind::step_done:
      return fields_at<StepDone>(body);
    case MessageKind::progress:
      return fields_at<Progress>(body);
    case MessageKind::pull:
      return fields_at<Pull>(body);
    case MessageKind::round_closed:
      return fields_at<RoundClosed>(body);
    case MessageKind::committed:
      return fields_at<Committed>(body);
    case MessageKind::evaluate:
      return fields_at<Evaluate>(body);
    case MessageKind::evaluation:
      return fields_at<Evaluation>(body);
    case MessageKind::checkpoint_done:
      return fields_at<CheckpointDone>(body);
    case MessageKind::closing:
      return fields_at<Closing>(body);
    case MessageKind::left:
      return fields_at<Left>(body);
    case MessageKind::departed:
      return fields_at<Departed>(body);
    case MessageKind::failed:
      return fields_at<Failed>(body);
    case MessageKind::refuse:
      return fields_at<Refuse>(body);
    case MessageKind::parted:
      return fields_at<Parted>(body);
    case MessageKind::leave:
      return fields_at<Leave>(body);
    default:
      return {};
  }
}

}  // namespace thalweg::actors
