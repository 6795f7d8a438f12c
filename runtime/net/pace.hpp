#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/// How much of a link its connection may take: enough to fill it, and not so much that a queue builds up in
/// which the control plane's small messages wait. Decides from what TCP measures; knows no socket and no
/// clock.
namespace thalweg::net {

/// What the system knows of a connection.
struct LinkSample {
  std::chrono::microseconds least_round_trip{};
  std::uint64_t delivered_bytes_per_s = 0;  ///< as of late
  bool application_limited = false;         ///< that was all there was to send, not all the link could take
};

/// Of the connection with descriptor `socket`. Empty: the system does not say.
std::optional<LinkSample> sample_link(int socket);
/// Has the system spread what is sent; 0: as it likes.
void pace_link(int socket, std::uint64_t bytes_per_s);

class Pace {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::uint64_t window_first = std::uint64_t{4} << 20;
  static constexpr std::uint64_t window_min = std::uint64_t{1} << 20;
  static constexpr std::uint64_t window_max = std::uint64_t{64} << 20;

  struct Setting {
    std::uint64_t window = window_first;  ///< bytes that may be unacknowledged
    std::uint64_t bytes_per_s = 0;        ///< 0: not paced
    friend bool operator==(const Setting&, const Setting&) = default;
  };

  /// Takes note of a sample and says what holds from now on. To be called while there is something to send,
  /// some times in each round trip if that can be had.
  Setting update(const LinkSample& sample, Time now);

  [[nodiscard]] const Setting& setting() const { return setting_; }

 private:
  /// Searching for the link's rate, keeping below it, looking whether it has become faster.
  enum class Phase { search, cruise, probe };

  void end_round(std::uint64_t rate, Time now);
  void enter(Phase phase, Time now);
  void set(std::chrono::microseconds least_round_trip);

  Setting setting_;
  Phase phase_ = Phase::search;
  std::uint64_t rate_ = 0;  ///< of the link, as believed
  int rounds_unchanged_ = 0;
  int rounds_slow_ = 0;
  std::vector<std::uint64_t> round_;  ///< its samples
  std::optional<Time> round_end_;
  Time phase_end_{};
  std::chrono::microseconds round_time_{};
};

}  // namespace thalweg::net
