#pragma once

#include "actors/role.hpp"
#include "actors/snapshot.hpp"

#include <thalweg/result.hpp>

#include <functional>

/// The keeper: writes checkpoints while training goes on. Before it the root, which hands it at most one at a
/// time; after it the disk, then the root again and the reporter, which hear how it went. It waits for the
/// disk, so it has a thread of its own.
namespace thalweg::actors {

class KeeperState {
 public:
  struct Options {
    std::function<Status(const Snapshot&)> save;  ///< also forgets what is too old
    std::function<Status(const Best&)> save_best;
    ReporterHandle reporter;
    SupervisorHandle supervisor;
  };

  explicit KeeperState(RoleBase<KeeperHandle>* self) : self_(self) {}
  KeeperHandle::behavior_type start(Options options);

 private:
  RoleBase<KeeperHandle>* self_;
  Options options_;
};

}  // namespace thalweg::actors
