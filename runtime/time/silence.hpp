#pragma once

#include <chrono>

/// How long somebody may be silent before others act, derived from one number: `net.silence` of the job
/// file, T. Nodes, links and aggregators all take their bounds from here, so that they fit each other, and
/// `thalweg doctor` prints them. Pure; who asks brings the time.
namespace thalweg {

struct Silence {
  /// T. Requires: at least `tolerance_min`.
  std::chrono::milliseconds tolerance = std::chrono::seconds(2);

  /// Below it the fractions of a millisecond that are cut off, and an ordinary scheduler's delays, count.
  static constexpr std::chrono::milliseconds tolerance_min{80};

  /// A node says something to each neighbour at least this often: T/4.
  [[nodiscard]] constexpr std::chrono::milliseconds heartbeat() const { return tolerance / 4; }

  /// How often the failure detector looks at who has been silent: T/8.
  [[nodiscard]] constexpr std::chrono::milliseconds check_every() const { return tolerance / 8; }

  /// A member that gave no sign of life for longer than this is dead: 1.5 T.
  [[nodiscard]] constexpr std::chrono::milliseconds dead_after() const { return tolerance * 3 / 2; }

  /// When a cut connection is known to be one at the latest: 1.75 T. The last sign of life was sent at the
  /// cut or before it; a check comes within T/8 after the time that it allows, and another T/8 is for delays.
  [[nodiscard]] constexpr std::chrono::milliseconds dead_at_the_latest() const {
    return dead_after() + 2 * check_every();
  }

  /// A round waits this long for a member that is suspect, since its connection or process is gone: T/4.
  [[nodiscard]] constexpr std::chrono::milliseconds suspect_grace() const { return tolerance / 4; }

  /// A receiver of a transfer says at least this often how far it is: T/4.
  [[nodiscard]] constexpr std::chrono::milliseconds progress_every() const { return tolerance / 4; }

  /// A transfer of which no byte arrived for this long is given up: T. There is no bound on all of it.
  [[nodiscard]] constexpr std::chrono::milliseconds progress_deadline() const { return tolerance; }

  friend bool operator==(const Silence&, const Silence&) = default;
};

}  // namespace thalweg
