#pragma once

#include "actors/rules/placement.hpp"
#include "runtime/net/exchange.hpp"
#include "runtime/values/ids.hpp"
#include "runtime/values/parameters.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// The bodies that nodes exchange: to be let in, to host members, to stay in touch. The rest of
/// actors/messages.hpp, which includes this and says which kind each is.
namespace thalweg::actors {

struct Assembly;

/// node -> registrar: let me in.
struct Apply {
  std::string release;  ///< of the program
  std::string token;    ///< of the cluster
  std::string name;
  std::uint64_t workers = 0;         ///< that it offers
  std::optional<MemberId> group;     ///< nothing: any
  std::vector<std::string> control;  ///< where other nodes reach its postman: "10.0.0.7:7001"
  std::vector<std::string> data;     ///< and its exchange
  std::string run;                   ///< id of the run that it was in before; empty: none
  std::optional<Version> held;       ///< version of it that this node has whole
};

/// registrar -> node: get the data and the model ready. The answer is Ready.
struct Admit {
  std::string run;  ///< id, 32 hexadecimal digits
  std::uint32_t term = 0;
  std::string job;                ///< TOML, resolved
  std::vector<std::string> data;  ///< where the root's exchange listens
};

/// registrar -> node, or whoever dialled -> its own host: not in this run.
struct Refuse {
  std::string why;
};

/// node -> registrar.
struct Ready {
  std::uint64_t model = 0;        ///< hash of layout and job, which must be the root's
  std::vector<std::string> data;  ///< where other nodes reach its exchange
  std::string failure;            ///< empty: none
};

/// registrar -> node: send the version that you said you hold. The answer is a Holding.
struct Fetch {
  Version version;
};

/// node -> registrar: what is needed to go on from this version.
struct Holding {
  Parameters parameters;  ///< with their ledger
};

/// registrar -> nodes: who is to be where from now on. Who has a seat spawns it, and connects to the nodes of
/// those above and below it. The answer is Hosted.
struct Host {
  struct Node {
    NodeNumber node;
    Incarnation incarnation;
    std::vector<std::string> control, data;
  };
  std::uint64_t number = 0;  ///< of this message, for its answer
  std::vector<rules::Placement::Seat>
      above;  ///< leaders that stand already, above the seats: for the way to them
  std::vector<rules::Placement::Seat> seats;
  std::vector<Node> nodes;
  Round first;  ///< the round that opens with the first roster
};

/// node -> registrar: they stand, and their neighbours are reached.
struct Hosted {
  std::uint64_t number = 0;
};

/// registrar -> node: these members are no more.
struct Dismiss {
  std::vector<MemberId> members;
};

/// An actor that has nothing to do until somebody else has done something.
struct Wait {
  std::string who;       ///< "g2"
  std::string for_whom;  ///< "w5"
  std::string until;     ///< what would end it
  std::uint64_t ms = 0;  ///< for how long it has lasted
};

/// Both ways: a sign of life.
struct Heartbeat {
  std::uint64_t number = 0;
  std::vector<Wait> waits = {};  ///< of the actors of a node, from there
};

/// Whoever has the keys and the token -> registrar: how is the run? The answer is a Report, or a Refuse.
struct Inquire {
  std::string token;  ///< of the cluster
};

/// registrar -> whoever asked.
struct Report {
  std::string status;  ///< a JSON object
};

/// node -> registrar: I go.
struct Leave {
  std::string why;
};

/// postman, exchange -> its own node: this one is reached.
struct Met {
  net::PeerId peer;
  bool data = false;  ///< by the exchange
};

/// Likewise: it no longer is.
struct Parted {
  net::PeerId peer;
  bool data = false;
  std::string why;
};

/// A thread of the node -> its host: data and model are there, or not.
struct Assembled {
  std::shared_ptr<Assembly> assembly;
  std::string failure;  ///< empty: none
};

}  // namespace thalweg::actors
