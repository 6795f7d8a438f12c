#pragma once

#include "runtime/values/ids.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

/// Who a message between nodes is for. Within a node a role holds its neighbour's handle; a stand-in
/// (actors/stand_in.hpp) turns the handle into an address, and the receiving node's directory
/// (actors/directory.hpp) turns that into a handle again.
namespace thalweg::actors {

/// One actor of a run. The scheduler and the root exist once, feeders and supervisors once in each node.
struct Address {
  /// Numbers are sent: never reuse one.
  enum class Kind : std::uint8_t {
    root = 0,
    leader = 1,
    worker = 2,
    scheduler = 3,
    feeder = 4,
    supervisor = 5
  };
  Kind kind = Kind::root;
  std::uint32_t number = 0;  ///< of the member, or of the node; 0 for the root and the scheduler

  friend constexpr auto operator<=>(const Address&, const Address&) = default;

  /// "w3", "g0", "root", "scheduler", "feeder n2", "supervisor n2".
  [[nodiscard]] std::string text() const {
    switch (kind) {
      case Kind::root:
        return root_id().text();
      case Kind::leader:
        return leader_id(number).text();
      case Kind::worker:
        return worker_id(number).text();
      case Kind::scheduler:
        return "scheduler";
      case Kind::feeder:
        return "feeder n" + std::to_string(number);
      case Kind::supervisor:
        return "supervisor n" + std::to_string(number);
    }
    return "?";
  }

  /// For `net::Parcel::to`: the kind in the upper half, the number in the lower one.
  [[nodiscard]] constexpr std::uint64_t packed() const {
    return static_cast<std::uint64_t>(kind) << 32 | number;
  }
  /// The reverse. Nothing: a later release's, or damaged.
  [[nodiscard]] static constexpr std::optional<Address> unpacked(std::uint64_t bits) {
    const std::uint64_t kind = bits >> 32;
    if (kind > static_cast<std::uint64_t>(Kind::supervisor)) return std::nullopt;
    return Address{static_cast<Kind>(kind), static_cast<std::uint32_t>(bits)};
  }
};

constexpr Address worker_at(std::uint32_t number) { return {Address::Kind::worker, number}; }
constexpr Address leader_at(std::uint32_t number) { return {Address::Kind::leader, number}; }
constexpr Address root_at() { return {Address::Kind::root, 0}; }
constexpr Address scheduler_at() { return {Address::Kind::scheduler, 0}; }
constexpr Address feeder_at(NodeNumber node) { return {Address::Kind::feeder, node.value}; }
constexpr Address supervisor_at(NodeNumber node) { return {Address::Kind::supervisor, node.value}; }

constexpr Address address_of(const MemberId& member) {
  switch (member.kind) {
    case MemberId::Kind::root:
      return root_at();
    case MemberId::Kind::leader:
      return leader_at(member.number);
    case MemberId::Kind::worker:
      break;
  }
  return worker_at(member.number);
}

}  // namespace thalweg::actors
