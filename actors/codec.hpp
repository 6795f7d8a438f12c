#pragma once

#include "actors/messages.hpp"

#include <thalweg/result.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

/// Bodies of messages as bytes, for their way from node to node, and back. Before it a stand-in or the
/// postman, after it the wire, or an actor's mailbox. Any thread; pure but for what `Neighbours` does. The
/// format is written down in actors/README.md.
namespace thalweg::actors {

/// Whom the members of a roster are, on this node: an actor of its own, or a stand-in.
struct Neighbours {
  virtual ~Neighbours() = default;
  /// Null: nobody of that name can be reached.
  virtual MemberHandle member(MemberId id) = 0;
};

/// The bodies that may cross nodes. Everything else carries handles or belongs to one node.
using TravellingBody =
    std::variant<Contribution, Parameters, Roster, Lease, Served, Fenced, Drained, DataSpent, Progress, Pull,
                 Slowest, Stop, Stopped, Failed, Left, Apply, Admit, Refuse, Ready, Host, Hosted, Dismiss,
                 Heartbeat, Leave, Fetch, Holding, Inquire, Report>;

template <class Body, class Variant = TravellingBody>
inline constexpr bool travels = false;
template <class Body, class... Each>
inline constexpr bool travels<Body, std::variant<Each...>> = (std::is_same_v<Body, Each> || ...);

/// Whether a body goes over the data plane, also when it happens to have no vector: those of one sender keep
/// their order.
template <class Body>
inline constexpr bool is_bulk =
    std::is_same_v<Body, Contribution> || std::is_same_v<Body, Parameters> || std::is_same_v<Body, Holding>;

struct Encoded {
  std::vector<std::byte> bytes;
  std::vector<Payload> payloads;  ///< a null one stays a null one
};

/// Requires: `body` travels.
template <class Body>
Encoded encode(const Body& body);

/// Fails: `corrupt`, with what is wrong; `mismatch`, when the sender's release writes this kind in another
/// format. Never throws, whatever the bytes are.
Result<TravellingBody> decode(MessageKind kind, std::span<const std::byte> bytes,
                              std::vector<Payload> payloads, Neighbours& neighbours);

}  // namespace thalweg::actors
