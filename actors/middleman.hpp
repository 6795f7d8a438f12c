#pragma once

#include "actors/node_context.hpp"
#include "actors/postman.hpp"
#include "runtime/net/credentials.hpp"
#include "runtime/net/endpoint.hpp"

#include <thalweg/result.hpp>

#include <caf/fwd.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

/// CAF's middleman, which carries what postmen say to each other: set up, listened with and dialled with
/// here, and known nowhere else. Always over TLS with certificates on both sides, loopback included: an open
/// port of CAF's own protocol ends the process at one header from a stranger, before anybody has asked who it
/// is.
namespace thalweg::actors {

struct MiddlemanOptions {
  /// Between signs of life on an idle connection. CAF itself draws no conclusion from their absence: who is
  /// silent for too long is the run's own decision.
  std::chrono::milliseconds heartbeat = std::chrono::milliseconds(500);
};

/// Makes systems of `context` able to publish and dial. Without credentials they are not: publish and dial
/// fail, and no port is ever opened. To be called before the actor system is made.
/// Fails: `not_found` when a file of the credentials cannot be opened.
Status load_middleman(NodeContext& context, const std::optional<net::Credentials>& credentials,
                      MiddlemanOptions options = {});

/// Listens at `at` for other nodes' postmen, and answers them with `postman`. Blocks for a moment; not from a
/// handler. Returns the port. `at.host` is an address or empty: every one.
/// Fails: `io`, when the port is taken or the address is not this machine's; `failed` without credentials.
Result<std::uint16_t> publish(caf::actor_system& system, const LocalPostmanHandle& postman,
                              const net::Endpoint& at);

/// Connects to the postman that listens at one of `at`, tried in turn, each for at most `limit`. A host that
/// drops packets would block all of CAF's connections for minutes, so an address that does not answer to a
/// plain connection within `limit` is not given to CAF at all. Blocks: not from a handler; see dial.
/// Fails: `failed`, with each address and why.
Result<PostmanHandle> dial_now(caf::actor_system& system, const std::vector<net::Endpoint>& at,
                               std::chrono::milliseconds limit);

/// The same on a thread of its own; `postman` then greets whoever answers, and its peer_up follows. `failed`
/// is called on that thread, or on the postman's when the connection ends before it is known whose it is.
/// That is what becomes of both connections when two nodes dial each other at the same moment: CAF closes
/// each for the other. So of two nodes one should dial, the one that came later; if both do, they have to try
/// again at different times.
void dial(caf::actor_system& system, const LocalPostmanHandle& postman, std::vector<net::Endpoint> at,
          std::chrono::milliseconds limit, std::function<void(const Error&)> failed);

}  // namespace thalweg::actors
