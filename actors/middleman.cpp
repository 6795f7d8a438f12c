#include "actors/middleman.hpp"

#include "actors/envelope.hpp"
#include "actors/tls_connections.hpp"
#include "runtime/check.hpp"
#include "runtime/net/probe.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/io/middleman.hpp>
#include <caf/io/middleman_actor.hpp>
#include <caf/openssl/manager.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/sec.hpp>
#include <caf/send.hpp>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <utility>

namespace thalweg::actors {

namespace {

const char* const no_credentials = "nodes cannot talk to each other: this one has no certificate: make keys";

/// What CAF says of an error, in words where it is one of those that a user can do something about.
std::string reason(const caf::actor_system& system, const caf::error& error) {
  if (error == caf::sec::request_timeout) return "it does not answer as a node";
  if (error == caf::sec::cannot_connect_to_node || error == caf::sec::disconnect_during_handshake) {
    return "it ended the connection: not a node, or one with keys of another cluster";
  }
  return system.render(error);
}

constexpr auto listening_limit = std::chrono::seconds(10);

/// An actor for one call, so that one that waits for its peer keeps no other waiting.
struct OneUse {
  explicit OneUse(caf::actor_system& system) : actor(spawn_tls_connections(system)) {}
  ~OneUse() { caf::anon_send_exit(actor, caf::exit_reason::kill); }
  OneUse(const OneUse&) = delete;
  OneUse& operator=(const OneUse&) = delete;
  const caf::io::middleman_actor actor;
};

}  // namespace

Status load_middleman(NodeContext& context, const std::optional<net::Credentials>& credentials,
                      MiddlemanOptions options) {
  if (!credentials) return {};
  for (const auto& file : {credentials->authority, credentials->certificate, credentials->key}) {
    if (!std::ifstream(file)) {
      return Error{ErrorCode::not_found,
                   fmt::format("{} cannot be opened: {}: make keys, or say where they are", file.string(),
                               std::strerror(errno))};
    }
  }
  context.openssl_cafile = credentials->authority.string();
  context.openssl_certificate = credentials->certificate.string();
  context.openssl_key = credentials->key.string();
  context.set("middleman.heartbeat-interval", caf::timespan(options.heartbeat));
  context.set("middleman.connection-timeout", caf::timespan(0));
  context.load<caf::io::middleman>();
  context.load<caf::openssl::manager>();
  context.add_message_types<caf::id_block::thalweg>();
  return {};
}

Result<std::uint16_t> publish(caf::actor_system& system, const LocalPostmanHandle& postman,
                              const net::Endpoint& at) {
  if (!system.has_openssl_manager()) return Error{ErrorCode::failed, no_credentials};
  THALWEG_CHECK(system.openssl_manager().authentication_enabled(),
                "a control port is never open to strangers");
  // Asked first, for the system's own words: CAF does not hand them on.
  if (const auto can = net::try_to_listen({at.host.empty() ? "0.0.0.0" : at.host, at.port}); !can.ok()) {
    return Error{ErrorCode::io, can.error().text + ": choose another address or port"};
  }
  const PostmanHandle face = postman;
  const OneUse connections(system);
  std::optional<std::uint16_t> port;
  std::string why;
  caf::scoped_actor self(system);
  self->request(connections.actor, listening_limit, caf::publish_atom_v, at.port,
                caf::actor_cast<caf::strong_actor_ptr>(face), system.message_types(face), at.host, true)
      .receive([&](std::uint16_t bound) { port = bound; },
               [&](const caf::error& error) { why = system.render(error); });
  if (port) return *port;
  return Error{ErrorCode::io,
               fmt::format("cannot listen at {}: {}: choose another address or port", at.text(), why)};
}

Result<PostmanHandle> dial_now(caf::actor_system& system, const std::vector<net::Endpoint>& at,
                               std::chrono::milliseconds limit) {
  if (!system.has_openssl_manager()) return Error{ErrorCode::failed, no_credentials};
  std::string tried;
  const auto failed_at = [&tried](const net::Endpoint& endpoint, const std::string& why) {
    tried += fmt::format("{}{}: {}", tried.empty() ? "" : "; ", endpoint.text(), why);
  };
  for (const auto& endpoint : at) {
    const auto attempts = net::try_each_address(endpoint, limit);
    if (!attempts.ok()) {
      tried += (tried.empty() ? "" : "; ") + attempts.error().text;
      continue;
    }
    for (const auto& attempt : *attempts) {
      if (!attempt.connected()) {
        failed_at(attempt.address, std::strerror(attempt.reason));
        continue;
      }
      PostmanHandle found;
      std::string why = "it does not speak for a node of this release";
      const OneUse connections(system);
      caf::scoped_actor self(system);
      self->request(connections.actor, limit, caf::connect_atom_v, attempt.address.host, attempt.address.port)
          .receive(
              [&](const caf::node_id&, const caf::strong_actor_ptr& actor,
                  const std::set<std::string>& takes) {
                if (actor && system.assignable<PostmanHandle>(takes))
                  found = caf::actor_cast<PostmanHandle>(actor);
              },
              [&](const caf::error& error) { why = reason(system, error); });
      if (found) return found;
      failed_at(attempt.address, why);
    }
  }
  return Error{ErrorCode::failed,
               fmt::format("no node was reached: {}", tried.empty() ? "no address" : tried)};
}

void dial(caf::actor_system& system, const LocalPostmanHandle& postman, std::vector<net::Endpoint> at,
          std::chrono::milliseconds limit, std::function<void(const Error&)> failed) {
  system.spawn<caf::detached>(
      [postman, at = std::move(at), limit, failed = std::move(failed)](caf::event_based_actor* self) {
        const auto found = dial_now(self->system(), at, limit);
        if (found.ok()) {
          caf::anon_send(postman, Greet{*found, failed});
        } else if (failed) {
          failed(found.error());
        }
      });
}

}  // namespace thalweg::actors
