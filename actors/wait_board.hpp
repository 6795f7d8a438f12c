#pragma once

#include "actors/messages.hpp"
#include "actors/node_context.hpp"
#include "runtime/time/clock.hpp"

#include <array>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

/// Who waits for whom on this node, right now. Before it the actors, which say so by way of `observed`; after
/// it the node's next sink, to which everything is passed on, with how long each wait took; and whoever asks:
/// heartbeats, the recorder and `thalweg status`. Any thread.
namespace thalweg::actors {

class WaitBoard final : public MessageSink {
 public:
  struct Entry {
    ActorNumber actor;
    std::string name, for_whom;
    rules::Reason until;
    std::chrono::nanoseconds since{};
  };

  /// Requires: `clock` and `next` (null: none) outlive this.
  explicit WaitBoard(const Clock& clock, MessageSink* next = nullptr) : clock_(clock), next_(next) {}

  void handles(const Handles& record) noexcept override {
    if (next_ != nullptr) next_->handles(record);
  }
  void handled(const Handled& record) noexcept override {
    if (next_ != nullptr) next_->handled(record);
  }
  void decided(const Decided& record) noexcept override {
    if (next_ != nullptr) next_->decided(record);
  }
  void waits(const Waits& record) noexcept override;
  void goes_on(ActorNumber actor, std::string_view name) noexcept override;

  /// Those that have lasted, the longest first.
  [[nodiscard]] std::vector<Wait> now() const;
  [[nodiscard]] std::vector<Entry> entries() const;
  /// An actor has ended: it waits no more.
  void forget(std::string_view name);

 private:
  /// Actors are spread over several, so that they do not wait for each other's.
  struct Shard {
    mutable std::mutex mutex;
    std::map<ActorNumber, Entry> waits;
  };
  Shard& shard_of(ActorNumber actor) { return shards_[actor.value % shards_.size()]; }
  void over(const Entry& entry) noexcept;

  const Clock& clock_;
  MessageSink* const next_;
  std::array<Shard, 16> shards_;
};

}  // namespace thalweg::actors
