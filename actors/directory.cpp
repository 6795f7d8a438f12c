#include "actors/directory.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace thalweg::actors {

void Directory::put(Address at, Local local) {
  const std::lock_guard lock(mutex_);
  gone_.erase(at);
  const Local& placed = locals_.insert_or_assign(at, std::move(local)).first->second;
  // Under the lock, so that what comes now on another thread stays behind what came before.
  auto waiting = waiting_.extract(at);
  if (waiting.empty()) return;
  for (auto& message : waiting.mapped()) {
    --counts_.waiting;
    give(placed, message.stamp, std::move(message.body));
  }
}

void Directory::forget_actor(Address at) {
  const std::lock_guard lock(mutex_);
  locals_.erase(at);
  gone_.insert(at);
}

MemberHandle Directory::local_member(Address at) const {
  const std::lock_guard lock(mutex_);
  const auto found = locals_.find(at);
  return found == locals_.end() ? MemberHandle{} : found->second.member;
}

void Directory::route(Address at, net::PeerId peer) {
  const std::lock_guard lock(mutex_);
  routes_[at] = peer;
}

std::optional<net::PeerId> Directory::route_of(Address at) const {
  const std::lock_guard lock(mutex_);
  const auto found = routes_.find(at);
  if (found == routes_.end()) return std::nullopt;
  return found->second;
}

bool Directory::reached(net::PeerId peer, PostmanHandle postman) {
  const std::lock_guard lock(mutex_);
  const auto floor = floors_.find(peer.node);
  if (floor != floors_.end() && peer.incarnation.value < floor->second) return false;
  raise_floor(peer.node, peer.incarnation.value);
  postmen_[peer] = std::move(postman);
  return true;
}

void Directory::lost(net::PeerId peer) {
  const std::lock_guard lock(mutex_);
  postmen_.erase(peer);
}

PostmanHandle Directory::postman_of(net::PeerId peer) const {
  const std::lock_guard lock(mutex_);
  const auto found = postmen_.find(peer);
  return found == postmen_.end() ? PostmanHandle{} : found->second;
}

void Directory::fence(net::PeerId peer) {
  const std::lock_guard lock(mutex_);
  postmen_.erase(peer);
  const auto last = peer.incarnation.value;
  raise_floor(peer.node, last == std::numeric_limits<std::uint32_t>::max() ? last : last + 1);
}

/// Requires: the lock is held.
void Directory::raise_floor(NodeNumber node, std::uint32_t incarnation) {
  auto& floor = floors_[node];
  floor = std::max(floor, incarnation);
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    const auto dropped = std::erase_if(each->second, [&](const Waiting& message) {
      return message.from.node == node && message.from.incarnation.value < floor;
    });
    counts_.waiting -= dropped;
    counts_.from_fenced += dropped;
    each = each->second.empty() ? waiting_.erase(each) : std::next(each);
  }
}

void Directory::follow_term(std::uint32_t term) {
  const std::lock_guard lock(mutex_);
  term_ = std::max(term_, term);
}

/// Requires: the lock is held.
bool Directory::let_in(net::PeerId from, const Stamp& stamp) {
  if (from.node != stamp.id.node() || from.incarnation.value != stamp.incarnation) {
    ++counts_.from_another;
    return false;
  }
  const auto floor = floors_.find(from.node);
  if (floor != floors_.end() && from.incarnation.value < floor->second) {
    ++counts_.from_fenced;
    return false;
  }
  if (stamp.term < term_) {
    ++counts_.from_lower_term;
    return false;
  }
  return true;
}

/// Requires: the lock is held.
void Directory::give(const Local& local, const Stamp& stamp, TravellingBody&& body) {
  ++(local.give(stamp, std::move(body)) ? counts_.delivered : counts_.unreadable);
}

Status Directory::deliver(std::optional<net::PeerId> from, const Stamp& stamp, std::uint64_t to,
                          std::span<const std::byte> bytes, std::vector<Payload> payloads,
                          Neighbours& neighbours) {
  const net::PeerId sender = from.value_or(net::PeerId{stamp.id.node(), {stamp.incarnation}});
  {
    const std::lock_guard lock(mutex_);
    if (!let_in(sender, stamp)) return {};
  }
  // Past the lock: neighbours may ask this directory.
  auto body = decode(stamp.kind, bytes, std::move(payloads), neighbours);
  const auto address = Address::unpacked(to);

  const std::lock_guard lock(mutex_);
  if (!body.ok()) {
    ++counts_.unreadable;
    return body.error();
  }
  if (!address) {
    ++counts_.unaddressed;
    return {};
  }
  // Again, since fence() may have been called meanwhile, and promises that nothing comes after it.
  if (!let_in(sender, stamp)) return {};
  if (options_.parameters) {
    if (const auto* parameters = std::get_if<Parameters>(&*body)) options_.parameters(*parameters);
  }
  if (const auto local = locals_.find(*address); local != locals_.end()) {
    give(local->second, stamp, std::move(*body));
  } else if (!gone_.contains(*address) && counts_.waiting < options_.waiting_max) {
    waiting_[*address].push_back({sender, stamp, std::move(*body)});
    ++counts_.waiting;
  } else {
    ++counts_.unaddressed;
  }
  return {};
}

bool Directory::hand_over(Address to, const Stamp& stamp, TravellingBody body) {
  const std::lock_guard lock(mutex_);
  const auto local = locals_.find(to);
  if (local == locals_.end()) return false;
  give(local->second, stamp, std::move(body));
  return true;
}

void Directory::count_unsent() {
  const std::lock_guard lock(mutex_);
  ++counts_.unsent;
}

Directory::Counts Directory::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void Directory::clear() {
  std::map<Address, Local> locals;  // past the lock: letting go may end an actor
  std::map<Address, std::deque<Waiting>> waiting;
  std::map<net::PeerId, PostmanHandle> postmen;
  const std::lock_guard lock(mutex_);
  std::swap(locals, locals_);
  std::swap(waiting, waiting_);
  std::swap(postmen, postmen_);
  counts_.waiting = 0;
}

}  // namespace thalweg::actors
