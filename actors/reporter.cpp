#include "actors/reporter.hpp"

#include <utility>

namespace thalweg::actors {

ReporterHandle::behavior_type ReporterState::start(Options options) {
  options_ = std::move(options);
  self_->name_is("reporter");
  began_ = self_->clock().now();
  return {
      [this](const Stamp&, const Committed& record) { committed(record); },
      [this](const Stamp&, const Evaluation& evaluation) { evaluated(evaluation); },
      [this](const Stamp&, const Closing& closing) { close(closing); },
  };
}

double ReporterState::epochs(std::uint64_t samples) const {
  return static_cast<double>(samples) / static_cast<double>(options_.samples_per_epoch);
}

void ReporterState::committed(const Committed& record) {
  ++commits_;
  compute_ns_ += record.compute_ns;
  samples_ = record.record.committed_samples;
  since_report_ += record.score;
  last_commit_s_ = wall_s();
  auto& summary = options_.summary;
  summary.committed = record.ledger_committed;
  summary.repeated = record.ledger_repeated;
  const bool epoch_end = record.record.version.value % options_.rounds_per_epoch == 0;
  if (epoch_end || record.record.last || last_commit_s_ - reported_s_ >= seconds(options_.every)) {
    report(record, last_commit_s_);
  }
}

void ReporterState::report(const Committed& record, double wall) {
  Progressed event;
  event.wall_s = wall;
  event.epoch = epochs(samples_);
  event.samples = samples_;
  event.version = record.record.version.value;
  event.loss = since_report_.loss_sum / static_cast<double>(since_report_.samples);
  event.samples_per_s =
      wall > reported_s_ ? static_cast<double>(since_report_.samples) / (wall - reported_s_) : 0;
  event.bytes_up = record.bytes_up;
  event.bytes_down = record.bytes_down;
  options_.summary.train_loss = event.loss;
  since_report_ = {};
  reported_s_ = wall;
  if (options_.on_event) options_.on_event(event);
}

void ReporterState::evaluated(const Evaluation& evaluation) {
  const auto samples = static_cast<double>(evaluation.score.samples);
  Evaluated event;
  event.wall_s = wall_s();
  event.epoch = epochs(evaluation.committed_samples);
  event.samples = evaluation.committed_samples;
  event.version = evaluation.version.value;
  event.loss = evaluation.score.loss_sum / samples;
  event.accuracy = static_cast<double>(evaluation.score.correct) / samples;
  options_.summary.loss = event.loss;
  options_.summary.accuracy = event.accuracy;
  if (options_.on_event) options_.on_event(event);
}

void ReporterState::close(const Closing& closing) {
  auto& summary = options_.summary;
  summary.end = closing.end;
  summary.failure = closing.failure;
  summary.samples = samples_;
  summary.epochs = epochs(samples_);
  summary.commits = commits_;
  summary.wall_s = last_commit_s_;
  summary.compute_s = static_cast<double>(compute_ns_) * 1e-9;
  if (last_commit_s_ > 0) {
    summary.busy_share = summary.compute_s / (static_cast<double>(summary.workers) * last_commit_s_);
    summary.samples_per_s = static_cast<double>(summary.samples) / last_commit_s_;
  }
  summary.messages = closing.messages + self_->messages_handled();
  summary.bytes_up = closing.bytes_up;
  summary.bytes_down = closing.bytes_down;
  if (options_.on_outcome) options_.on_outcome({std::move(summary), closing.snapshot});
  self_->quit();
}

}  // namespace thalweg::actors
