#pragma once

#include "actors/rules/decision.hpp"
#include "runtime/time/clock.hpp"
#include "runtime/values/ids.hpp"
#include "runtime/values/stamp.hpp"

#include <caf/actor_system_config.hpp>
#include <caf/fwd.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

/// What all actors of a node share: its identity, its clock, where its log goes, and who carries its
/// messages. Reaches them inside the actor system's configuration.
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
  /// It is about to be: `handled` follows on the same thread, with nothing of another actor between.
  struct Handles {
    ActorNumber receiver;
    std::string_view name;
    const Stamp& stamp;
    std::chrono::nanoseconds began;
    const void* body;  ///< of the type that `stamp.kind` names; not after the call
  };
  struct Decided {
    ActorNumber actor;
    std::string_view name;
    MessageId cause;  ///< the message that was being handled
    const rules::Reason& reason;
  };

  /// An actor has nothing to do until somebody else has done something.
  struct Waits {
    ActorNumber actor;
    std::string_view name;
    std::string_view for_whom;   ///< "w3", "feeder", "itself"
    const rules::Reason& until;  ///< what would end it
  };

  /// A wait is over.
  struct Waited {
    ActorNumber actor;
    std::string_view name;
    std::string_view for_whom;
    const rules::Reason& until;
    std::chrono::nanoseconds since;
    std::chrono::nanoseconds took;
  };

  virtual ~MessageSink() = default;
  virtual void handles(const Handles& /*record*/) noexcept {}
  virtual void handled(const Handled& record) noexcept = 0;
  virtual void decided(const Decided& record) noexcept = 0;
  virtual void waits(const Waits& /*record*/) noexcept {}
  virtual void goes_on(ActorNumber /*actor*/, std::string_view /*name*/) noexcept {}
  /// Told by the wait board, which knows how long.
  virtual void waited(const Waited& /*record*/) noexcept {}
};

/// Who carries messages that are not to go straight into a mailbox: a simulation, or emulated links. Called
/// on the thread that sends.
class Courier {
 public:
  struct Parcel {
    std::string_view from;  ///< name of the sender, "w3"
    caf::actor_id to = 0;   ///< of the receiver
    const Stamp& stamp;
    const void* body = nullptr;        ///< of the type that `stamp.kind` names; lives as long as `deliver`
    std::chrono::nanoseconds delay{};  ///< not before that much time has gone by: timers
    std::function<void()> deliver;     ///< puts the message into the mailbox; any thread
  };

  virtual ~Courier() = default;
  /// An actor has got its name.
  virtual void named(caf::actor_id actor, std::string_view name) = 0;
  virtual void carry(Parcel parcel) = 0;
};

class NodeContext : public caf::actor_system_config {
 public:
  /// Requires: `node_clock`, `node_sink` (null: nothing is recorded) and `node_courier` (null: straight into
  /// the mailboxes) outlive the actor system.
  NodeContext(const Clock& node_clock, MessageSink* node_sink, Courier* node_courier = nullptr)
      : clock(node_clock), sink(node_sink), courier(node_courier) {}

  const Clock& clock;
  MessageSink* const sink;
  Courier* const courier;
  NodeNumber node;
  Incarnation incarnation;
  std::uint32_t term = 1;

  /// The next actor's number within this node.
  [[nodiscard]] ActorNumber admit_actor() const { return {static_cast<std::uint16_t>(actors_.fetch_add(1))}; }

 private:
  mutable std::atomic<unsigned> actors_{0};
};

/// The context of a node as a cluster runs it, with the actor scheduler set up. Requires: as NodeContext.
std::unique_ptr<NodeContext> make_node_context(const Clock& clock, MessageSink* sink = nullptr,
                                               Courier* courier = nullptr);

}  // namespace thalweg::actors
