#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

/// Strong ids, so that a worker's number is never taken for a round's. All are fixed-width: they are stored
/// and sent.
namespace thalweg {

/// An integer that only meets its own kind. `Tag` names the kind.
template <class Tag, class Number>
struct Id {
  using number_type = Number;
  Number value = 0;

  friend constexpr auto operator<=>(const Id&, const Id&) = default;
  constexpr Id next() const { return Id{static_cast<Number>(value + 1)}; }
};

using Version = Id<struct VersionTag, std::uint64_t>;      ///< number of global commits so far
using Round = Id<struct RoundTag, std::uint64_t>;          ///< the making of one commit, or of none
using Iteration = Id<struct IterationTag, std::uint64_t>;  ///< iterations a worker has finished
using Incarnation = Id<struct IncarnationTag, std::uint32_t>;
using NodeNumber = Id<struct NodeTag, std::uint16_t>;    ///< by admission order, never reused within a run
using ActorNumber = Id<struct ActorTag, std::uint16_t>;  ///< within a node, 12 bits

/// Member of a tree: a worker or an aggregator, numbered by kind in tree order. Printed `w3`, `g1`, `root`.
struct MemberId {
  enum class Kind : std::uint8_t { root, leader, worker } kind = Kind::root;
  std::uint32_t number = 0;

  friend constexpr auto operator<=>(const MemberId&, const MemberId&) = default;
  [[nodiscard]] std::string text() const {
    switch (kind) {
      case Kind::root:
        return "root";
      case Kind::leader:
        return "g" + std::to_string(number);
      case Kind::worker:
        return "w" + std::to_string(number);
    }
    return "?";
  }
};

constexpr MemberId worker_id(std::uint32_t number) { return {MemberId::Kind::worker, number}; }
constexpr MemberId leader_id(std::uint32_t number) { return {MemberId::Kind::leader, number}; }
constexpr MemberId root_id() { return {MemberId::Kind::root, 0}; }

}  // namespace thalweg

template <class Tag, class Number>
struct std::hash<thalweg::Id<Tag, Number>> {
  std::size_t operator()(const thalweg::Id<Tag, Number>& id) const noexcept {
    return std::hash<Number>{}(id.value);
  }
};
