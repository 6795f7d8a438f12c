#include "actors/keeper.hpp"

#include <utility>

namespace thalweg::actors {

KeeperHandle::behavior_type KeeperState::start(Options options) {
  options_ = std::move(options);
  self_->name_is("keeper");
  return {
      [this](const Stamp&, const Checkpoint& checkpoint) {
        const auto saved = options_.save(*checkpoint.snapshot);
        const CheckpointDone done{checkpoint.snapshot->version, saved ? "" : saved.error().text};
        self_->tell(checkpoint.answer_to, done);
        self_->tell(options_.reporter, done);
      },
      [this](const Stamp&, const Best& best) {
        const auto saved = options_.save_best(best);
        self_->tell(options_.reporter, CheckpointDone{best.version, saved ? "" : saved.error().text});
      },
      [this](const Stamp&, const Stop&) { self_->leave(options_.supervisor); },
  };
}

}  // namespace thalweg::actors
