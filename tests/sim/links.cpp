#include "tests/sim/links.hpp"

#include <algorithm>

namespace thalweg::sim {

namespace {

constexpr std::size_t losses_max = 20;
constexpr std::uint64_t link_stream = 101, tie_stream = 102;

Time share(Time of, double by) { return Time{static_cast<Time::rep>(static_cast<double>(of.count()) * by)}; }

Time transfer(std::size_t bytes, double bytes_per_s) {
  if (bytes_per_s <= 0) return {};
  return Time{static_cast<Time::rep>(static_cast<double>(bytes) / bytes_per_s * 1e9)};
}

}  // namespace

Time between(Random& random, Time low, Time high) {
  return low +
         Time{static_cast<Time::rep>(random.below(static_cast<std::uint64_t>((high - low).count()) + 1))};
}

Time LinkOptions::longest(std::size_t bytes) const {
  return delay_max + share(delay_max, jitter) + transfer(bytes, bytes_per_s) +
         (outage > 0 ? outage_max : Time{}) +
         (loss > 0 ? resend * static_cast<Time::rep>(losses_max) : Time{});
}

Links::Link& Links::link(caf::actor_id from, caf::actor_id to) {
  const auto [at, fresh] = links_.try_emplace({from, to});
  if (fresh) {
    at->second.random = Random(seed_, link_stream, from << 32 | to);
    at->second.delay = between(at->second.random, options_.delay_min, options_.delay_max);
  }
  return at->second;
}

Links::Arrival Links::arrival(caf::actor_id from, caf::actor_id to, MessageKind kind, std::size_t bytes,
                              Time now) {
  auto& link = this->link(from, to);
  auto& random = link.random;
  const bool bulk = kind == MessageKind::contribution || kind == MessageKind::parameters;
  auto& plane = link.planes[bulk ? 1 : 0];

  if (options_.outage > 0 && random.uniform() < options_.outage) {
    link.up = std::max(link.up, now + between(random, Time{}, options_.outage_max));
  }
  plane.free = std::max({now, plane.free, link.up});
  if (bulk) plane.free += transfer(bytes, options_.bytes_per_s);
  auto when = plane.free + link.delay + share(link.delay, options_.jitter * random.uniform());
  for (std::size_t losses = 0; losses < losses_max && random.uniform() < options_.loss; ++losses) {
    when += options_.resend;
  }
  plane.last = std::max(plane.last, when);
  const auto plane_id = (from << 33 | to << 1) + (bulk ? 1 : 0);
  return {plane.last,
          Random(seed_ + plane_id, tie_stream, static_cast<std::uint64_t>(plane.last.count())).bits()};
}

}  // namespace thalweg::sim
