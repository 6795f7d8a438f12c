#include "tests/sim/virtual_time.hpp"

#include "runtime/check.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace thalweg::sim {

bool VirtualTime::later(const Entry& a, const Entry& b) {
  return std::tie(a.when, a.tie, a.sequence) > std::tie(b.when, b.tie, b.sequence);
}

void VirtualTime::at(Time when, std::uint64_t tie, Event event) {
  queue_.push_back({std::max(when, now_), tie, sequence_++, std::move(event)});
  std::push_heap(queue_.begin(), queue_.end(), later);
}

void VirtualTime::happen() {
  THALWEG_CHECK(due(), "an event happens at its time");
  std::pop_heap(queue_.begin(), queue_.end(), later);
  const auto event = std::move(queue_.back().event);
  queue_.pop_back();
  event();
}

void VirtualTime::advance() {
  THALWEG_CHECK(!empty(), "time goes to an event");
  now_ = std::max(now_, queue_.front().when);
}

}  // namespace thalweg::sim
