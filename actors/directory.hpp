#pragma once

#include "actors/address.hpp"
#include "actors/codec.hpp"
#include "actors/envelope.hpp"
#include "actors/role.hpp"
#include "runtime/net/exchange.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

/// Who is where: the actors of this node by address, the nodes that others are on, and how each is reached.
/// Before it the wire (postman, parcel receiver), which asks it to deliver, and the stand-ins, which ask it
/// for the way; after it the mailboxes of this node. Any thread.
namespace thalweg::actors {

/// Whether actors with handle `Handle` take (Stamp, Body).
template <class Signatures, class Body>
inline constexpr bool is_signature_among = false;
template <template <class...> class List, class... Each, class Body>
inline constexpr bool is_signature_among<List<Each...>, Body> =
    (std::is_same_v<Each, caf::reacts_to<Stamp, Body>> || ...);
template <class Handle, class Body>
inline constexpr bool takes = is_signature_among<typename Handle::signatures, Body>;

class Directory {
 public:
  struct Options {
    std::size_t waiting_max = 256;  ///< messages for actors that are not registered yet, together
    /// Shown every version that arrives from another node, before whoever it is for. Must not block; empty:
    /// nobody.
    std::function<void(const Parameters&)> parameters = {};
  };
  struct Counts {
    std::uint64_t delivered = 0;
    std::uint64_t waiting = 0;          ///< right now, for actors that are to come
    std::uint64_t from_fenced = 0;      ///< dropped: of a node's life that is over
    std::uint64_t from_lower_term = 0;  ///< dropped
    std::uint64_t from_another = 0;     ///< dropped: the stamp is not of the node that sent it
    std::uint64_t unaddressed = 0;      ///< dropped: nobody is there, and too many wait already
    std::uint64_t unreadable = 0;       ///< dropped: no body, or not one that its receiver takes
    std::uint64_t unsent = 0;           ///< dropped: no way to its receiver's node
  };

  /// Requires: `context` outlives this.
  Directory(const NodeContext& context, Options options) : context_(context), options_(std::move(options)) {}
  explicit Directory(const NodeContext& context) : Directory(context, Options()) {}

  // -- this node's actors

  /// Makes `handle` the receiver of what is for `at`, beginning with what has come already.
  template <class Handle>
  void register_actor(Address at, const Handle& handle) {
    Local local;
    if constexpr (takes<Handle, Parameters> && takes<Handle, Pull>) local.member = handle;
    local.give = [&context = context_, handle](const Stamp& stamp, TravellingBody&& body) {
      return std::visit(
          [&]<class Body>(Body&& each) {
            if constexpr (takes<Handle, std::remove_cvref_t<Body>>) {
              post(context, "postman", handle, stamp, std::forward<Body>(each));
              return true;
            } else {
              return false;
            }
          },
          std::move(body));
    };
    put(at, std::move(local));
  }
  /// The actor has ended: what still comes for it is dropped, and counted.
  void forget_actor(Address at);
  /// Null: not of this node, or not a member.
  [[nodiscard]] MemberHandle local_member(Address at) const;

  // -- other nodes

  /// From now on what is for `at` goes to `peer`.
  void route(Address at, net::PeerId peer);
  [[nodiscard]] std::optional<net::PeerId> route_of(Address at) const;
  /// `postman` is how `peer` is reached; earlier lives of its node are over. False: so is this one.
  bool reached(net::PeerId peer, PostmanHandle postman);
  /// `peer` is no longer reached.
  void lost(net::PeerId peer);
  /// Null: not reached.
  [[nodiscard]] PostmanHandle postman_of(net::PeerId peer) const;

  // -- what is let in

  /// Takes nothing more from this life of a node, nor from earlier ones; what of theirs waits is dropped.
  void fence(net::PeerId peer);
  /// Takes nothing more from terms below `term`.
  void follow_term(std::uint32_t term);

  /// Delivers a message that `from` sent. Nothing: `from` is whom its stamp says. Fails: `corrupt` or
  /// `mismatch`, when it cannot be read; it is counted and dropped then. What is dropped for another reason
  /// is only counted.
  Status deliver(std::optional<net::PeerId> from, const Stamp& stamp, std::uint64_t to,
                 std::span<const std::byte> bytes, std::vector<Payload> payloads, Neighbours& neighbours);
  /// Puts a message into the mailbox of an actor of this node. False: there is none at `to`.
  bool hand_over(Address to, const Stamp& stamp, TravellingBody body);
  /// A message found no way.
  void count_unsent();

  [[nodiscard]] Counts counts() const;

  /// Lets go of every actor, and of what waits: actor systems wait for theirs before they end.
  void clear();

 private:
  struct Local {
    std::function<bool(const Stamp&, TravellingBody&&)> give;  ///< false: not a body that it takes
    MemberHandle member;
  };
  struct Waiting {
    net::PeerId from;
    Stamp stamp;
    TravellingBody body;
  };

  void put(Address at, Local local);
  void give(const Local& local, const Stamp& stamp, TravellingBody&& body);
  [[nodiscard]] bool let_in(net::PeerId from, const Stamp& stamp);
  void raise_floor(NodeNumber node, std::uint32_t incarnation);

  const NodeContext& context_;
  const Options options_;
  mutable std::mutex mutex_;
  std::map<Address, Local> locals_;
  std::set<Address> gone_;
  std::map<Address, std::deque<Waiting>> waiting_;
  std::map<Address, net::PeerId> routes_;
  std::map<net::PeerId, PostmanHandle> postmen_;
  std::map<NodeNumber, std::uint32_t> floors_;  ///< lowest incarnation that is let in
  std::uint32_t term_ = 0;                      ///< likewise
  Counts counts_;
};

}  // namespace thalweg::actors
