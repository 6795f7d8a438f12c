#include "runtime/net/pace.hpp"

#include <algorithm>

namespace thalweg::net {
namespace {

using namespace std::chrono_literals;

/// A link with a shorter round trip is left alone: its queue is short whatever we do.
constexpr std::chrono::microseconds slow_round_trip = 1ms;
/// What a paced connection takes of the link; the rest keeps the queue empty.
constexpr double share = 0.95;
constexpr double probe_share = 1.1;
constexpr auto cruise_time = 2s;
/// A rate has grown, or shrunk, when it changed by this much.
constexpr double grown = 1.1, shrunk = 0.75;
/// A probe cannot show more growth than it asks for.
constexpr double grown_in_probe = 1.04;
/// Search is over after so many rounds without growth.
constexpr int rounds_unchanged_max = 3;
constexpr int rounds_slow_max = 3;
constexpr std::size_t round_samples_min = 3;

std::uint64_t times(std::uint64_t rate, double factor) {
  return static_cast<std::uint64_t>(static_cast<double>(rate) * factor);
}

std::uint64_t median(std::vector<std::uint64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Pace::Setting Pace::update(const LinkSample& sample, Time now) {
  // Four round trips average out how acknowledgements bunch; shorter than 50 ms is the scheduler's noise.
  round_time_ = std::max<std::chrono::microseconds>(4 * sample.least_round_trip, 50ms);
  if (!round_end_ || now - *round_end_ > 1s) {
    // The first, or the first after there was nothing to send for a while.
    round_.clear();
    round_end_ = now + round_time_;
    phase_end_ = std::max(phase_end_, now + (phase_ == Phase::probe ? 2 * round_time_ : 0us));
  }
  if (!sample.application_limited && sample.delivered_bytes_per_s > 0) {
    round_.push_back(sample.delivered_bytes_per_s);
  }
  if (now >= *round_end_ && round_.size() >= round_samples_min) {
    // The median, since single samples are often far too high.
    end_round(median(round_), now);
    round_.clear();
    round_end_ = now + round_time_;
  }
  set(sample.least_round_trip);
  return setting_;
}

void Pace::end_round(std::uint64_t rate, Time now) {
  switch (phase_) {
    case Phase::search:
      rounds_unchanged_ = rate > times(rate_, grown) ? 0 : rounds_unchanged_ + 1;
      rate_ = std::max(rate_, rate);
      if (rounds_unchanged_ >= rounds_unchanged_max) enter(Phase::cruise, now);
      return;
    case Phase::cruise:
      // At our own pace a link shows less than it can; only when it does not even keep up is it slower.
      rounds_slow_ = rate < times(rate_, share * shrunk) ? rounds_slow_ + 1 : 0;
      if (rounds_slow_ >= rounds_slow_max) {
        rate_ = rate;
        rounds_slow_ = 0;
      }
      if (now >= phase_end_) enter(Phase::probe, now);
      return;
    case Phase::probe:
      if (now < phase_end_) return;
      // More went through than was believed: perhaps still more does.
      if (rate > times(rate_, grown_in_probe)) {
        rate_ = rate;
        return enter(Phase::probe, now);
      }
      rate_ = rate;
      return enter(Phase::cruise, now);
  }
}

void Pace::enter(Phase phase, Time now) {
  phase_ = phase;
  // A round of a probe passes before what it sends is acknowledged; the next one counts.
  phase_end_ = phase == Phase::cruise ? now + cruise_time : now + 2 * round_time_;
}

void Pace::set(std::chrono::microseconds least_round_trip) {
  const bool slow = least_round_trip >= slow_round_trip;
  const double seconds = std::chrono::duration<double>(least_round_trip).count();
  // What is read when the sender hears of it left a round trip and a chunk, a quarter of the window, ago.
  const std::uint64_t fills = times(rate_, 2 * seconds);
  setting_.window =
      rate_ == 0 ? window_first : std::clamp(fills, slow ? window_min : window_first, window_max);
  setting_.bytes_per_s = 0;
  if (slow && phase_ == Phase::cruise) setting_.bytes_per_s = times(rate_, share);
  if (slow && phase_ == Phase::probe) setting_.bytes_per_s = times(rate_, probe_share);
}

}  // namespace thalweg::net
