#pragma once

#include "actors/address.hpp"
#include "actors/codec.hpp"
#include "actors/directory.hpp"
#include "actors/interfaces.hpp"
#include "runtime/net/exchange.hpp"

#include <caf/fwd.hpp>

#include <map>
#include <mutex>

/// A neighbour on another node, as the actors of this one see it: an actor with the same handle that sends
/// what it is given to where its address is. Before it any role of this node, after it the other node's
/// postman (small messages, over CAF) or parcel receiver (those with vectors, over the exchange). A message
/// keeps its stamp on the way; stand-ins add none of their own and are not observed.
namespace thalweg::actors {

/// Requires: `directory` and `exchange` outlive the stand-in.
struct StandInOptions {
  Address to;
  Directory* directory = nullptr;  ///< asked for the way with every message
  net::Exchange* exchange = nullptr;
};

/// `Handle`: MemberHandle, WorkerHandle, AggregatorHandle, FeederHandle, SchedulerHandle,
/// SupervisorHandle, RegistrarHandle, HostHandle or InquirerHandle.
/// The stand-in lives as long as somebody holds its handle. What it is sent while there is no way to its
/// address is dropped and counted (Directory::Counts::unsent). A body that must never leave its node is a
/// bug.
template <class Handle>
Handle spawn_stand_in(caf::actor_system& system, StandInOptions options);

/// Members by their ids: this node's own actors, and stand-ins for all others, one each. Any thread.
class StandIns final : public Neighbours {
 public:
  /// Requires: all of them outlive this.
  StandIns(caf::actor_system& system, Directory& directory, net::Exchange& exchange)
      : system_(system), directory_(directory), exchange_(exchange) {}

  /// Never null: a member whose way is not known yet may become known before it is written to.
  MemberHandle member(MemberId id) override;

  /// Lets go of the stand-ins, which the actor system waits for before it ends.
  void clear();

 private:
  caf::actor_system& system_;
  Directory& directory_;
  net::Exchange& exchange_;
  std::mutex mutex_;
  std::map<MemberId, MemberHandle> members_;
};

}  // namespace thalweg::actors
