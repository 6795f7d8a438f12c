#pragma once

#include "actors/role.hpp"
#include "actors/snapshot.hpp"

#include <thalweg/run_event.hpp>

#include <chrono>
#include <functional>
#include <memory>

/// The reporter: turns commit records and evaluations into the events a program sees, and into the summary at
/// the end. Before it the root and, last, the supervisor; after it the program. It may write files and call
/// the program, so it has a thread of its own.
namespace thalweg::actors {

/// How a run ended: what the program is told, and what is left to save.
struct Outcome {
  Summary summary;
  std::shared_ptr<const Snapshot> snapshot;  ///< null when the root was lost
};

class ReporterState {
 public:
  struct Options {
    Summary summary;  ///< with what is known from the start filled in
    std::uint64_t samples_per_epoch = 0;
    std::uint64_t start_samples = 0;  ///< committed by the run that this one goes on with
    Version start_version;
    double speed_alone = 0;                ///< samples a second of all workers when none waits; 0: not known
    std::chrono::milliseconds every{250};  ///< between Progressed events
    std::function<void(const RunEvent&)> on_event;
    std::function<void(Outcome)> on_outcome;
  };

  explicit ReporterState(RoleBase<ReporterHandle>* self) : self_(self) {}
  ReporterHandle::behavior_type start(Options options);

 private:
  void committed(const Committed& record);
  void count(const Committed& record);
  void sum_up_staleness();
  void report();
  void tell_program(const RunEvent& event) const;
  void evaluated(const Evaluation& evaluation);
  void close(const Closing& closing);
  [[nodiscard]] double wall_s() const { return seconds(self_->clock().now() - began_); }
  [[nodiscard]] double epochs(std::uint64_t samples) const;

  RoleBase<ReporterHandle>* self_;
  Options options_;
  std::chrono::nanoseconds began_{};
  std::uint64_t compute_ns_ = 0;
  Committed newest_;
  std::uint64_t samples_ = 0;
  double last_commit_s_ = 0;
  Score since_report_;
  std::uint64_t iterations_since_report_ = 0, staleness_since_report_ = 0;
  double reported_s_ = 0;
};

}  // namespace thalweg::actors
