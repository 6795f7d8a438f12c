#pragma once

#include "actors/messages.hpp"
#include "actors/node_context.hpp"
#include "runtime/check.hpp"
#include "runtime/values/stamp.hpp"

#include <caf/actor_system.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>

/// What every actor of ours is made of: a CAF actor, watched (`observed`), with a state object of its own
/// that holds the role's logic (`role`). Watching stands here, once, so that no role can forget it.
namespace thalweg::actors {

/// Sends `body` with a stamp that its sender made before: for streams and the pool, which answer an actor
/// from threads of their own.
template <class Handle, class Body>
void post(const NodeContext& context, std::string_view from, const Handle& to, const Stamp& stamp, Body body,
          std::chrono::nanoseconds delay = {}) {
  if (context.courier == nullptr) {
    caf::anon_send(to, stamp, std::move(body));
    return;
  }
  auto kept = std::make_shared<const Body>(std::move(body));
  context.courier->carry({from, to.id(), stamp, kept.get(), delay,
                          [to, stamp, kept] { caf::anon_send(to, stamp, Body(*kept)); }});
}

/// A CAF actor that reads the stamp of each message before it is handled, stamps each message it sends, and
/// tells the node's sink, if there is one, about both.
template <class Base>
class observed : public Base {
 public:
  explicit observed(caf::actor_config& cfg)
      : Base(cfg),
        context_(static_cast<const NodeContext&>(this->system().config())),
        number_(context_.admit_actor()) {}

  [[nodiscard]] const NodeContext& context() const { return context_; }
  [[nodiscard]] const Clock& clock() const { return context_.clock; }
  [[nodiscard]] std::uint64_t messages_handled() const { return handled_; }

  /// The name logs and errors use for this actor, as "w3" or "feeder".
  void name_is(std::string name) {
    name_ = std::move(name);
    if (context_.courier != nullptr) context_.courier->named(this->id(), name_);
  }
  [[nodiscard]] const std::string& own_name() const { return name_; }

  /// A fresh stamp for a message with this body: caused by the message now being handled.
  template <class Body>
  Stamp stamp_for() {
    static_assert(kind_of<Body> != MessageKind::none, "give the body a kind in actors/messages.hpp");
    return {MessageId::make(context_.node, number_, ++sent_),
            cause_,
            logical_.tick(context_.clock.wall_us()),
            context_.term,
            context_.incarnation.value,
            kind_of<Body>};
  }

  /// Sends `body`, stamped.
  template <class Handle, class Body>
  void tell(const Handle& to, Body body) {
    const Stamp stamp = stamp_for<Body>();
    if (context_.courier != nullptr) return post(context_, name_, to, stamp, std::move(body));
    this->send(to, stamp, std::move(body));
  }

  /// Sends `body`, stamped, after `delay`.
  template <class Handle, class Body>
  void tell_later(const Handle& to, std::chrono::milliseconds delay, Body body) {
    const Stamp stamp = stamp_for<Body>();
    if (context_.courier != nullptr) return post(context_, name_, to, stamp, std::move(body), delay);
    this->delayed_send(to, delay, stamp, std::move(body));
  }

  /// Says its last words to `supervisor`, and ends when this message has been handled.
  template <class Handle>
  void leave(const Handle& supervisor, Stopped last_words = {}) {
    last_words.who = name_;
    last_words.messages = handled_;
    tell(supervisor, std::move(last_words));
    this->quit();
  }

  /// Records why a rule decided as it did.
  void note(const rules::Reason& reason) {
    if (context_.sink != nullptr) context_.sink->decided({number_, name_, cause_, reason});
  }

  /// Records that this actor waits from now on: `who()` is the name of whom it waits for, `until` what would
  /// end it. No wait may be without: see goes_on.
  template <class Who>
  void waits_for(const Who& who, const rules::Reason& until) {
    if (context_.sink == nullptr) return;
    const std::string name = who();
    context_.sink->waits({number_, name_, name, until});
  }
  /// Ends the wait recorded last, if there was one.
  void goes_on() {
    if (context_.sink != nullptr) context_.sink->goes_on(number_, name_);
  }

  caf::invoke_message_result consume(caf::mailbox_element& element) override {
    const Stamp* stamp = stamp_of(element.content());
    cause_ = stamp != nullptr ? stamp->id : MessageId{};
    if (stamp == nullptr) return Base::consume(element);
    logical_.observe(stamp->hlc);
    ++handled_;
    if (context_.sink == nullptr) return Base::consume(element);
    const Stamp kept = *stamp;
    const auto began = context_.clock.now();
    context_.sink->handles({number_, name_, kept, began, element.content().get(1)});
    const auto result = Base::consume(element);
    context_.sink->handled({number_, name_, kept, began, context_.clock.now()});
    return result;
  }

 private:
  static const Stamp* stamp_of(const caf::type_erased_tuple& content) {
    if (content.size() != 2) return nullptr;
    const auto type = content.type(0);
    if (type.second == nullptr || *type.second != typeid(Stamp)) return nullptr;
    return static_cast<const Stamp*>(content.get(0));
  }

  const NodeContext& context_;
  ActorNumber number_;
  std::string name_ = "actor";
  MessageId cause_;
  LogicalClock logical_;
  std::uint64_t sent_ = 0;
  std::uint64_t handled_ = 0;
};

/// Somebody of a node who is no actor and writes to one: its program, or threads of the network. Any thread.
class Outsider {
 public:
  /// Requires: `context` outlives this.
  explicit Outsider(const NodeContext& context) : context_(context), number_(context.admit_actor()) {}

  template <class Handle, class Body>
  void tell(const Handle& to, Body body) {
    const Stamp stamp{MessageId::make(context_.node, number_, ++sent_),
                      {},
                      context_.clock.wall_us() << 12,
                      context_.term,
                      context_.incarnation.value,
                      kind_of<Body>};
    caf::anon_send(to, stamp, std::move(body));
  }

 private:
  const NodeContext& context_;
  const ActorNumber number_;
  std::atomic<std::uint64_t> sent_{0};
};

/// What a state object knows of the actor it lives in.
template <class Handle>
using RoleBase = observed<typename Handle::base>;

/// An actor with the typed interface `Handle` whose logic is `State`. A State is made from a pointer to its
/// actor, has `struct Options`, and `start(Options)` returns the behavior.
template <class Handle, class State>
class role final : public caf::stateful_actor<State, RoleBase<Handle>> {
 public:
  using Super = caf::stateful_actor<State, RoleBase<Handle>>;

  role(caf::actor_config& cfg, typename State::Options options) : Super(cfg), options_(std::move(options)) {}

 protected:
  typename Handle::behavior_type make_behavior() override { return this->state.start(std::move(options_)); }

 private:
  typename State::Options options_;
};

/// Spawns an actor of role `State` and returns its handle. `Placement` is caf::no_spawn_options or
/// caf::detached.
template <class Handle, class State, caf::spawn_options Placement = caf::no_spawn_options>
Handle spawn_role(caf::actor_system& system, typename State::Options options) {
  return system.spawn<role<Handle, State>, Placement>(std::move(options));
}

}  // namespace thalweg::actors
