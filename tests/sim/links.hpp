#pragma once

#include "runtime/time/random.hpp"
#include "runtime/values/stamp.hpp"
#include "tests/sim/virtual_time.hpp"

#include <caf/fwd.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

/// When a message arrives that one actor sends another. Between every two actors there is a link of its own,
/// as a TCP connection shows itself: nothing is lost, doubled or reordered, but all of it may be late. Bulk
/// (contributions and parameters) and control travel on planes of their own, each in order, and overtake each
/// other.
namespace thalweg::sim {

struct LinkOptions {
  Time delay_min{};        ///< of a link, drawn once for each
  Time delay_max{};        ///< the same
  double jitter = 0;       ///< of each message, up to this share of the link's delay
  double bytes_per_s = 0;  ///< of a link's bulk plane; 0: no limit
  double loss = 0;         ///< chance that a message is lost and sent again, each time anew
  Time resend{};           ///< what each loss costs
  double outage = 0;       ///< chance that a message finds its link down
  Time outage_max{};       ///< how long it is down at most

  /// No message takes longer from when its link is free. Longer than 20 losses in a row is left out.
  [[nodiscard]] Time longest(std::size_t bytes) const;
};

class Links {
 public:
  Links(const LinkOptions& options, std::uint64_t seed) : options_(options), seed_(seed) {}

  /// When and, among others of that moment, in which order a message arrives that is sent at `now`.
  struct Arrival {
    Time when{};
    std::uint64_t tie = 0;
  };
  Arrival arrival(caf::actor_id from, caf::actor_id to, MessageKind kind, std::size_t bytes, Time now);

 private:
  struct Plane {
    Time last{};  ///< arrival of the message before
    Time free{};  ///< when the one before has left
  };
  struct Link {
    Random random{0};
    Time delay{};
    Time up{};  ///< down until then
    std::array<Plane, 2> planes;
  };
  Link& link(caf::actor_id from, caf::actor_id to);

  LinkOptions options_;
  std::uint64_t seed_;
  std::map<std::pair<caf::actor_id, caf::actor_id>, Link> links_;
};

/// Uniform in [low, high]. Requires: low <= high.
Time between(Random& random, Time low, Time high);

}  // namespace thalweg::sim
