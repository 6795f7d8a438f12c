#include "tests/sim/wire.hpp"

#include "runtime/check.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace thalweg::sim {

namespace {

template <class Handle, class Body>
Letter letter_with(const Letter& letter, const Handle& to, const Body& body) {
  THALWEG_CHECK(to != nullptr, "a letter's receiver is in the directory");
  auto other = letter;
  auto kept = std::make_shared<const Body>(body);
  other.body = kept.get();
  other.deliver = [to, stamp = letter.stamp, kept] { caf::anon_send(to, stamp, Body(*kept)); };
  return other;
}

std::size_t payload_bytes(const Letter& letter) {
  if (const auto* up = letter.as<Contribution>()) return up->payload ? up->payload->bytes() : 0;
  if (const auto* down = letter.as<Parameters>()) return down->payload->bytes();
  return 0;
}

/// The node of the root. What these say to each other goes over no link.
bool beside_root(std::string_view name) {
  constexpr std::array<std::string_view, 6> names{"root",     "scheduler", "supervisor",
                                                  "reporter", "evaluator", "keeper"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool inside_node(const Letter& letter, std::string_view to) {
  // An actor's own stream and timers; and whoever watches it: CAF tells the supervisor of an actor's end past
  // this wire, so what the actor said before must not come later.
  if (letter.from == to || to == "supervisor") return true;
  // The scheduler has no name yet when it is told who stands.
  if (letter.stamp.kind == MessageKind::hello) return true;
  return beside_root(letter.from) && beside_root(to);
}

}  // namespace

// -- who is who
// --------------------------------------------------------------------------------------------------

void Directory::learn(const actors::Hello& hello) {
  for (const auto& aggregator : hello.aggregators) {
    aggregators_[aggregator.handle.id()] = aggregator.handle;
    for (const auto& member : aggregator.roster.added) {
      members_[member.handle.id()] = member.handle;
      ids_[member.id.text()] = member.handle.id();
    }
  }
}

actors::MemberHandle Directory::member(caf::actor_id id) const {
  const auto found = members_.find(id);
  return found == members_.end() ? actors::MemberHandle{} : found->second;
}

actors::MemberHandle Directory::member_named(std::string_view name) const {
  const auto found = ids_.find(name);
  return found == ids_.end() ? actors::MemberHandle{} : member(found->second);
}

actors::AggregatorHandle Directory::aggregator(caf::actor_id id) const {
  const auto found = aggregators_.find(id);
  return found == aggregators_.end() ? actors::AggregatorHandle{} : found->second;
}

Letter Directory::with(const Letter& letter, const Contribution& body) const {
  return letter_with(letter, aggregator(letter.to), body);
}

Letter Directory::with(const Letter& letter, const Parameters& body) const {
  return letter_with(letter, member(letter.to), body);
}

// -- the wire
// ----------------------------------------------------------------------------------------------------

Wire::Wire(const LinkOptions& options, std::uint64_t seed, VirtualTime& time, const Audience& audience,
           Bug bug)
    : time_(time), audience_(audience), bug_(std::move(bug)), links_(options, seed) {}

void Wire::named(caf::actor_id actor, std::string_view name) {
  ids_[std::string(name)] = actor;
  names_[actor] = name;
  for (auto* looker : audience_) looker->named(name);
}

void Wire::clear() {
  directory_ = {};
  bug_ = nullptr;
}

std::string Wire::name_of(caf::actor_id actor) const {
  const auto found = names_.find(actor);
  return found == names_.end() ? "actor " + std::to_string(actor) : found->second;
}

void Wire::carry(Parcel parcel) {
  Letter letter{std::string(parcel.from), parcel.to, parcel.stamp, parcel.body, parcel.delay,
                std::move(parcel.deliver)};
  if (const auto* hello = letter.as<actors::Hello>()) {
    directory_.learn(*hello);
    // Some of them have not begun yet, and are written to all the same.
    for (const auto& aggregator : hello->aggregators) names_[aggregator.handle.id()] = aggregator.id.text();
  }
  if (!bug_) return send(std::move(letter));
  for (auto& each : bug_(std::move(letter), directory_)) send(std::move(each));
}

void Wire::send(Letter letter) {
  const auto to = name_of(letter.to);
  for (auto* looker : audience_) looker->sent({letter.from, to, letter.stamp, letter.body});

  if (inside_node(letter, to)) {
    if (letter.delay > Time{}) {
      return time_.at(time_.now() + letter.delay, 0, [this, letter = std::move(letter)] { deliver(letter); });
    }
    return deliver(letter);
  }
  const auto from = ids_.find(letter.from);
  THALWEG_CHECK(from != ids_.end(), "an actor has a name before it sends");
  const auto arrival = links_.arrival(from->second, letter.to, letter.stamp.kind, payload_bytes(letter),
                                      time_.now() + letter.delay);
  time_.at(arrival.when, arrival.tie, [this, letter = std::move(letter)] { deliver(letter); });
}

void Wire::deliver(const Letter& letter) {
  const auto receiver = name_of(letter.to);
  for (auto* looker : audience_) looker->delivered({letter.from, receiver, letter.stamp, letter.body});
  letter.deliver();
}

}  // namespace thalweg::sim
