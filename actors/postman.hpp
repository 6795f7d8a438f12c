#pragma once

#include "actors/codec.hpp"
#include "actors/directory.hpp"
#include "actors/envelope.hpp"
#include "actors/role.hpp"
#include "runtime/net/exchange.hpp"

#include <caf/allowed_unsafe_message_type.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>

/// The postman: one per node. Takes small messages from the postmen of other nodes (vectors come through
/// actors/parcel_receiver.hpp), delivers them by the directory, and notices when another node's postman is
/// gone. Before it the middleman (actors/middleman.hpp), after it this node's actors.
///
///   Greet (we dialled) ─▶ watched ── Greeting{answer} from there ─▶ reached ── its end ─▶ peer_down
///   Greeting from there (they dialled) ─────── answered ───────────▶   │
namespace thalweg::actors {

/// whoever dialled -> postman: this is another node's postman; tell it who we are, and watch it.
struct Greet {
  PostmanHandle postman;
  /// It is gone before it has answered. On the postman's thread; must not block.
  std::function<void(const Error&)> failed = {};
};

/// The postman, as its own node sees it.
using LocalPostmanHandle = PostmanHandle::extend<caf::reacts_to<Greet>>;

class PostmanState {
 public:
  struct Options {
    Directory* directory = nullptr;    ///< outlives the postman
    Neighbours* neighbours = nullptr;  ///< likewise
    /// Both on the postman's thread; must not block. `peer_down`: its process or the connection has ended.
    std::function<void(net::PeerId)> peer_up = {};
    std::function<void(net::PeerId, const std::string& why)> peer_down = {};
    /// A message could not be read, or a node's greeting came too late in its life.
    std::function<void(const Error&)> complaint = {};
  };

  explicit PostmanState(RoleBase<LocalPostmanHandle>* self) : self_(self) {}
  LocalPostmanHandle::behavior_type start(Options options);

 private:
  void greet(const PostmanHandle& postman, bool answer);
  void greeted(const Greeting& greeting);
  void gone(const caf::down_msg& down);
  void deliver(const Envelope& envelope);

  struct Watched {
    PostmanHandle postman;
    std::optional<net::PeerId> peer;  ///< nothing: it has not said so yet
    std::function<void(const Error&)> failed = {};
  };
  Watched& watch(const PostmanHandle& postman);

  RoleBase<LocalPostmanHandle>* self_;
  Options options_;
  /// By the proxy itself: a handle that is made after a reconnect compares equal to the dead one.
  std::map<const caf::actor_control_block*, Watched> watched_;
};

/// Requires: what Options says. The postman lives until dismiss().
LocalPostmanHandle spawn_postman(caf::actor_system& system, PostmanState::Options options);

/// Ends the postman, which its actor system waits for before it ends.
void dismiss(const LocalPostmanHandle& postman);

}  // namespace thalweg::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Greet)
