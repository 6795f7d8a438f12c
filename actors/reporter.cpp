#include "actors/reporter.hpp"

#include <utility>

namespace thalweg::actors {

namespace {

const char* name_of(EndedBy by) {
  switch (by) {
    case EndedBy::nobody:
      return "";
    case EndedBy::data:
      return "data";
    case EndedBy::stop:
      return "stop";
    case EndedBy::max_time:
      return "max_time";
    case EndedBy::target_accuracy:
      return "target_accuracy";
  }
  return "";
}

}  // namespace

ReporterHandle::behavior_type ReporterState::start(Options options) {
  options_ = std::move(options);
  self_->name_is("reporter");
  began_ = self_->clock().now();
  samples_ = options_.start_samples;
  newest_.record.version = options_.start_version;
  return {
      [this](const Stamp&, const Committed& record) { committed(record); },
      [this](const Stamp&, const Evaluation& evaluation) { evaluated(evaluation); },
      [this](const Stamp&, const CheckpointDone& done) {
        tell_program(Checkpointed{wall_s(), done.version.value, done.failure});
      },
      [this](const Stamp&, const Arrived& arrived) {
        tell_program(WorkerJoined{wall_s(), arrived.member.text(), arrived.workers});
      },
      [this](const Stamp&, const Departed& departed) {
        tell_program(WorkerLost{wall_s(), departed.member.text(), departed.why, departed.workers_left});
      },
      [this](const Stamp&, const Paused& paused) {
        tell_program(RunPaused{wall_s(), paused.workers, paused.wanted});
      },
      [this](const Stamp&, const Closing& closing) { close(closing); },
  };
}

double ReporterState::epochs(std::uint64_t samples) const {
  return static_cast<double>(samples) / static_cast<double>(options_.samples_per_epoch);
}

void ReporterState::tell_program(const RunEvent& event) const {
  if (options_.on_event) options_.on_event(event);
}

void ReporterState::committed(const Committed& record) {
  newest_ = record;
  compute_ns_ += record.compute_ns;
  count(record);
  const auto epoch_before = samples_ / options_.samples_per_epoch;
  samples_ = record.record.committed_samples;
  since_report_ += record.score;
  last_commit_s_ = wall_s();
  const bool epoch_end = samples_ / options_.samples_per_epoch != epoch_before;
  if (epoch_end || record.record.last || last_commit_s_ - reported_s_ >= seconds(options_.every)) report();
}

/// How old the gradients were, in versions, and who computed them.
void ReporterState::count(const Committed& record) {
  auto& counts = options_.summary.staleness_counts;
  for (const auto& age : record.ages) {
    const auto now = record.record.version.value - 1;
    const auto staleness = now > age.base.value ? now - age.base.value : 0;
    if (counts.size() <= staleness) counts.resize(staleness + 1);
    counts[staleness] += age.iterations;
    iterations_since_report_ += age.iterations;
    staleness_since_report_ += age.iterations * staleness;
  }
  auto& workers = options_.summary.worker_summaries;
  for (const auto& work : record.work) {
    while (workers.size() <= work.worker) {
      workers.push_back({worker_id(static_cast<std::uint32_t>(workers.size())).text(), 0, 0, 0});
    }
    auto& worker = workers[work.worker];
    worker.samples += work.samples;
    worker.steps += work.steps;
    worker.compute_s += static_cast<double>(work.compute_ns) * 1e-9;
  }
}

void ReporterState::sum_up_staleness() {
  auto& summary = options_.summary;
  std::uint64_t all = 0;
  double sum = 0;
  for (std::size_t i = 0; i < summary.staleness_counts.size(); ++i) {
    const auto count = summary.staleness_counts[i];
    all += count;
    sum += static_cast<double>(count) * static_cast<double>(i);
    if (count > 0) summary.staleness_max = static_cast<double>(i);
  }
  if (all == 0) return;
  summary.staleness_mean = sum / static_cast<double>(all);
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < summary.staleness_counts.size(); ++i) {
    below += summary.staleness_counts[i];
    if (below * 100 < all * 99) continue;
    summary.staleness_p99 = static_cast<double>(i);
    return;
  }
}

/// Everything committed since the last report.
void ReporterState::report() {
  if (since_report_.samples == 0) return;
  const double wall = last_commit_s_;
  Progressed event;
  event.wall_s = wall;
  event.epoch = epochs(samples_);
  event.samples = samples_;
  event.version = newest_.record.version.value;
  event.loss = since_report_.loss_sum / static_cast<double>(since_report_.samples);
  event.samples_per_s =
      wall > reported_s_ ? static_cast<double>(since_report_.samples) / (wall - reported_s_) : 0;
  event.bytes_up = newest_.bytes_up;
  event.bytes_down = newest_.bytes_down;
  options_.summary.train_loss = event.loss;
  event.staleness = iterations_since_report_ == 0 ? 0
                                                  : static_cast<double>(staleness_since_report_) /
                                                        static_cast<double>(iterations_since_report_);
  since_report_ = {};
  iterations_since_report_ = staleness_since_report_ = 0;
  reported_s_ = wall;
  tell_program(event);
}

void ReporterState::evaluated(const Evaluation& evaluation) {
  // What led to the evaluated version comes first.
  if (evaluation.version == newest_.record.version) report();
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
  tell_program(event);
}

void ReporterState::close(const Closing& closing) {
  report();
  auto& summary = options_.summary;
  summary.end = closing.end;
  summary.ended_by = name_of(closing.by);
  summary.failure = closing.failure;
  summary.samples = samples_;
  summary.epochs = epochs(samples_);
  summary.commits = newest_.record.version.value;
  summary.wall_s = last_commit_s_;
  summary.compute_s = static_cast<double>(compute_ns_) * 1e-9;
  if (last_commit_s_ > 0) {
    summary.busy_share = summary.compute_s / (static_cast<double>(summary.workers) * last_commit_s_);
    summary.samples_per_s = static_cast<double>(samples_ - options_.start_samples) / last_commit_s_;
    if (options_.speed_alone > 0) summary.speed_share = summary.samples_per_s / options_.speed_alone;
  }
  if (closing.snapshot) {
    const auto& snapshot = *closing.snapshot;
    summary.committed = snapshot.committed_samples - snapshot.repeated_samples;
    summary.repeated = snapshot.repeated_samples;
    summary.quarantined = total(snapshot.quarantined);
    summary.refused = snapshot.refused;
  }
  sum_up_staleness();
  summary.messages = closing.messages + self_->messages_handled();
  summary.bytes_up = closing.bytes_up;
  summary.bytes_down = closing.bytes_down;
  if (options_.on_outcome) options_.on_outcome({std::move(summary), closing.snapshot});
  self_->quit();
}

}  // namespace thalweg::actors
