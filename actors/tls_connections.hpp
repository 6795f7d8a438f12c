#pragma once

#include <caf/fwd.hpp>
#include <caf/io/middleman_actor.hpp>

/// How CAF's middleman makes and takes connections, over TLS. In place of the actor that comes with
/// caf_openssl 0.17, on whose sessions this stands: with OpenSSL 3 that one takes an error of one connection
/// for an error of the next, so that the death of one node cuts the connections of others (actors/README.md).
/// Used by actors/middleman.cpp alone.
namespace thalweg::actors {

/// An actor, on a thread of its own, for one publish or connect message; connecting blocks that thread only.
/// Its owner ends it. Requires: io::middleman and openssl::manager are loaded.
caf::io::middleman_actor spawn_tls_connections(caf::actor_system& system);

}  // namespace thalweg::actors
