#pragma once

#include "runtime/values/ids.hpp"

#include <cstdint>
#include <string>

/// What every message between actors begins with: who said it, because of what, when. The sender's `send`
/// fills it; the log is ordered and joined by it.
namespace thalweg {

/// Which message a stamp stands before. Our own enumeration, since the actor framework's type tokens do not
/// tell our types apart. Numbers are stored and sent: never reuse one
/// (6 was low_water).
enum class MessageKind : std::uint16_t {
  none = 0,
  contribution = 1,
  parameters = 2,
  batch = 3,
  want_batch = 4,
  lease = 5,
  step_done = 7,
  fold_done = 8,
  committed = 9,
  evaluate = 10,
  evaluation = 11,
  hello = 12,
  roster = 13,
  stop = 14,
  stopped = 15,
  finished = 16,
  failed = 17,
  closing = 18,
  tick = 19,
  round_closed = 20,
  data_spent = 21,
  left = 22,
  departed = 23,
  checkpoint = 24,
  best = 25,
  checkpoint_done = 26,
  progress = 27,
  pull = 28,
  slowest = 29,
  served = 30,
  fenced = 31,
  drained = 32,
  joined = 33,
  arrived = 34,
  add_worker = 35,
  apply = 36,
  admit = 37,
  refuse = 38,
  host = 39,
  ready = 40,
  heartbeat = 41,
  leave = 42,
  hosted = 43,
  dismiss = 44,
  met = 45,
  parted = 46,
  assembled = 47,
  fetch = 48,
  holding = 49,
  inquire = 50,
  report = 51,
  paused = 52,
};

/// Name of a kind as logs print it: the enumerator. "kind-N" for a number this release does not know.
std::string kind_name(MessageKind kind);

/// A message's id: node (16 bits), actor (12), counter (36). Printed `n3.a17.912`.
struct MessageId {
  std::uint64_t bits = 0;

  static constexpr MessageId make(NodeNumber node, ActorNumber actor, std::uint64_t counter) {
    return {static_cast<std::uint64_t>(node.value) << 48 |
            (static_cast<std::uint64_t>(actor.value) & 0xfff) << 36 | (counter & 0xf'ffff'ffff)};
  }
  [[nodiscard]] constexpr NodeNumber node() const { return {static_cast<std::uint16_t>(bits >> 48)}; }
  [[nodiscard]] constexpr ActorNumber actor() const {
    return {static_cast<std::uint16_t>(bits >> 36 & 0xfff)};
  }
  [[nodiscard]] constexpr std::uint64_t counter() const { return bits & 0xf'ffff'ffff; }
  [[nodiscard]] std::string text() const;
  friend constexpr auto operator<=>(const MessageId&, const MessageId&) = default;
};

struct Stamp {
  MessageId id;            ///< never 0 in a sent message
  MessageId cause;         ///< the message its sender was handling; 0: none, the sender began by itself
  std::uint64_t hlc = 0;   ///< hybrid logical clock: 52 bits of microseconds, 12 of counter
  std::uint32_t term = 0;  ///< number of the root's term the sender follows
  std::uint32_t incarnation = 0;  ///< of the sender's node
  MessageKind kind = MessageKind::none;
};

/// The hybrid logical clock of one actor: never behind the wall clock it is given, never behind a stamp it
/// has seen, and strictly rising. (Kulkarni et al., "Logical Physical Clocks", 2014.)
class LogicalClock {
 public:
  /// The next value, for a message sent at `wall_us` microseconds.
  std::uint64_t tick(std::uint64_t wall_us);
  /// Takes note of a stamp that arrived.
  void observe(std::uint64_t hlc);

 private:
  std::uint64_t last_ = 0;
};

}  // namespace thalweg
