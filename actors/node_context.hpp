#pragma once

#include "actors/rules/decision.hpp"
#include "runtime/time/clock.hpp"
#include "runtime/values/ids.hpp"
#include "runtime/values/stamp.hpp"

#include <caf/actor_system_config.hpp>

#include <atomic>
#include <cstdint>
#include <string_view>

/// What all actors of a node share: its identity, its clock, and where its log goes. Reaches them inside the
/// actor system's configuration.
namespace thalweg::actors {

/// Who hears of every message an actor of this node has handled and of every decision a rule has made: the
/// recorder, or a test. Called on the actor's own thread; must neither block nor throw.
class MessageSink {
 public:
  struct Handled {
    ActorNumber receiver;
    std::string_view name;  ///< of the receiver, "w3"
    const Stamp& stamp;
    std::chrono::nanoseconds began;
    std::chrono::nanoseconds ended;
  };
  struct Decided {
    ActorNumber actor;
    std::string_view name;
    MessageId cause;  ///< the message that was being handled
    const rules::Reason& reason;
  };

  virtual ~MessageSink() = default;
  virtual void handled(const Handled& record) noexcept = 0;
  virtual void decided(const Decided& record) noexcept = 0;
};

class NodeContext : public caf::actor_system_config {
 public:
  /// Requires: `node_clock` and `node_sink` (null: nothing is recorded) outlive the actor system.
  NodeContext(const Clock& node_clock, MessageSink* node_sink) : clock(node_clock), sink(node_sink) {}

  const Clock& clock;
  MessageSink* const sink;
  NodeNumber node;
  Incarnation incarnation;
  std::uint32_t term = 1;

  /// The next actor's number within this node.
  [[nodiscard]] ActorNumber admit_actor() const { return {static_cast<std::uint16_t>(actors_.fetch_add(1))}; }

 private:
  mutable std::atomic<unsigned> actors_{0};
};

}  // namespace thalweg::actors
