#pragma once

#include "runtime/values/parameters.hpp"

#include <mutex>
#include <optional>
#include <string>

/// What a node keeps of its run, so that the run can go on when the root is lost: the newest version that has
/// arrived whole. Outlives the actors of the life in which the node got it. Any thread.
namespace thalweg::actors {

class HeldVersion {
 public:
  /// Keeps them when they are newer than what is held, and whole: with their ledger.
  void offer(const Parameters& parameters) {
    if (!parameters.ledger || !parameters.payload) return;
    const std::lock_guard lock(mutex_);
    if (held_ && held_->version() >= parameters.version()) return;
    held_ = parameters;
    held_->answer.reset();
    held_->begins.reset();
    held_->moves = nullptr;
    held_->move_samples = 0;
  }
  [[nodiscard]] std::optional<Parameters> newest() const {
    const std::lock_guard lock(mutex_);
    return held_;
  }

  /// The run has let this node in: once for each life of the node.
  void follow(const std::string& run, std::uint32_t term) {
    const std::lock_guard lock(mutex_);
    run_ = run;
    term_ = term;
  }
  /// Id of the run that it follows; empty: none yet.
  [[nodiscard]] std::string run() const {
    const std::lock_guard lock(mutex_);
    return run_;
  }
  /// Of the root that let it in last.
  [[nodiscard]] std::uint32_t term() const {
    const std::lock_guard lock(mutex_);
    return term_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Parameters> held_;
  std::string run_;
  std::uint32_t term_ = 0;
};

}  // namespace thalweg::actors
