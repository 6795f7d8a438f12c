#pragma once

#include "actors/role.hpp"
#include "gpu/stream.hpp"
#include "models/dataset.hpp"

#include <thalweg/model.hpp>

#include <deque>
#include <memory>
#include <optional>

/// The evaluator: scores committed parameters on the test set, on a stream of its own, beside running
/// training, so that no round waits for it. Before it the root, which asks; after it the root again, which
/// gets the answer. What waits here holds parameter buffers: when the root runs out of them, it waits, and
/// says so.
namespace thalweg::actors {

class EvaluatorState {
 public:
  struct Options {
    std::shared_ptr<const models::Dataset> data;
    std::unique_ptr<gpu::Stream> stream;
    std::unique_ptr<Model> model;  ///< used on the stream's thread only
    SupervisorHandle supervisor;
  };

  explicit EvaluatorState(RoleBase<EvaluatorHandle>* self) : self_(self) {}
  ~EvaluatorState();
  EvaluatorHandle::behavior_type start(Options options);

 private:
  void begin_next();
  void done(const StepDone& step);
  void stop();

  RoleBase<EvaluatorHandle>* self_;
  Options options_;
  std::deque<Evaluate> waiting_;
  std::optional<Evaluate> current_;
  bool stopping_ = false;
};

}  // namespace thalweg::actors
