#include "actors/postman.hpp"

#include <caf/actor_cast.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <fmt/format.h>

#include <span>
#include <utility>

namespace thalweg::actors {

LocalPostmanHandle::behavior_type PostmanState::start(Options options) {
  options_ = std::move(options);
  self_->name_is("postman");
  self_->set_down_handler([this](const caf::down_msg& down) { gone(down); });
  return {
      [this](const Envelope& envelope) { deliver(envelope); },
      [this](const Greeting& greeting) { greeted(greeting); },
      [this](const Greet& message) {
        watch(message.postman).failed = message.failed;
        greet(message.postman, false);
      },
  };
}

void PostmanState::deliver(const Envelope& envelope) {
  const auto bytes = std::as_bytes(std::span(envelope.body));
  const Status done = options_.directory->deliver(std::nullopt, envelope.stamp(), envelope.to, bytes, {},
                                                  *options_.neighbours);
  if (!done.ok() && options_.complaint) options_.complaint(done.error());
}

PostmanState::Watched& PostmanState::watch(const PostmanHandle& postman) {
  const auto [found, fresh] =
      watched_.try_emplace(caf::actor_cast<caf::actor_control_block*>(postman), Watched{postman, {}, {}});
  if (fresh) self_->monitor(postman);
  return found->second;
}

void PostmanState::greet(const PostmanHandle& postman, bool answer) {
  const auto& context = self_->context();
  self_->send(postman, Greeting{context.node.value, context.incarnation.value,
                                static_cast<std::uint8_t>(answer ? 1 : 0)});
}

void PostmanState::greeted(const Greeting& greeting) {
  const auto sender = caf::actor_cast<PostmanHandle>(self_->current_sender());
  if (!sender) return;
  const net::PeerId peer{{greeting.node}, {greeting.incarnation}};
  Watched& watched = watch(sender);
  if (watched.peer && *watched.peer != peer) options_.directory->lost(*watched.peer);
  const bool known = watched.peer == peer;
  if (!options_.directory->reached(peer, sender)) {
    if (options_.complaint) {
      options_.complaint(
          {ErrorCode::mismatch,
           fmt::format("node {} is not let in: its incarnation {} is over: it has to join anew",
                       greeting.node, greeting.incarnation)});
    }
    return;
  }
  watched.peer = peer;
  if (greeting.answer == 0) greet(sender, true);
  if (!known && options_.peer_up) options_.peer_up(peer);
}

void PostmanState::gone(const caf::down_msg& down) {
  const auto found = watched_.find(caf::actor_cast<caf::actor_control_block*>(down.source));
  if (found == watched_.end()) return;
  const Watched watched = std::move(found->second);
  watched_.erase(found);
  if (!watched.peer) {
    if (watched.failed) {
      watched.failed(
          {ErrorCode::failed, "a node was reached, but is gone before it said who it is: dial again"});
    }
    return;
  }
  // After a reconnect the peer is reached through another proxy already, and stays so.
  for (const auto& [proxy, other] : watched_) {
    if (other.peer == watched.peer) return;
  }
  options_.directory->lost(*watched.peer);
  if (!options_.peer_down) return;
  const bool cut = down.reason == caf::exit_reason::remote_link_unreachable;
  options_.peer_down(*watched.peer, cut ? "its process or its control connection has ended"
                                        : "its postman has ended: " + self_->system().render(down.reason));
}

LocalPostmanHandle spawn_postman(caf::actor_system& system, PostmanState::Options options) {
  return spawn_role<LocalPostmanHandle, PostmanState>(system, std::move(options));
}

void dismiss(const LocalPostmanHandle& postman) {
  caf::anon_send_exit(postman, caf::exit_reason::user_shutdown);
}

}  // namespace thalweg::actors
