#pragma once

#include "actors/messages.hpp"
#include "actors/node_context.hpp"
#include "tests/sim/checker.hpp"
#include "tests/sim/links.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

/// What carries the messages of a simulated cluster: from an actor, past the lookers-on, over its link, into
/// the mailbox of another. A planted bug sits between the actor and the lookers-on, as if the actor had it.
namespace thalweg::sim {

/// A message between its sender and its receiver's mailbox.
struct Letter {
  std::string from;
  caf::actor_id to = 0;
  Stamp stamp;
  const void* body = nullptr;  ///< lives as long as `deliver`
  Time delay{};
  std::function<void()> deliver;

  template <class Body>
  [[nodiscard]] const Body* as() const {
    return stamp.kind == actors::kind_of<Body> ? static_cast<const Body*>(body) : nullptr;
  }
};

/// Who is who in a cluster, as the supervisor's Hello tells it.
class Directory {
 public:
  void learn(const actors::Hello& hello);

  /// Null when there is no such member.
  [[nodiscard]] actors::MemberHandle member(caf::actor_id id) const;
  [[nodiscard]] actors::MemberHandle member_named(std::string_view name) const;
  [[nodiscard]] actors::AggregatorHandle aggregator(caf::actor_id id) const;

  /// `letter` with another body. Requires: its receiver takes such bodies.
  [[nodiscard]] Letter with(const Letter& letter, const Contribution& body) const;
  [[nodiscard]] Letter with(const Letter& letter, const Parameters& body) const;

 private:
  std::map<caf::actor_id, actors::MemberHandle> members_;
  std::map<std::string, caf::actor_id, std::less<>> ids_;
  std::map<caf::actor_id, actors::AggregatorHandle> aggregators_;
};

/// A planted bug. Returns what is sent in place of `letter`: the same, another, several, nothing.
using Bug = std::function<std::vector<Letter>(Letter letter, const Directory& directory)>;

class Wire final : public actors::Courier {
 public:
  /// Requires: `time` and `audience` outlive this.
  Wire(const LinkOptions& options, std::uint64_t seed, VirtualTime& time, const Audience& audience, Bug bug);

  void named(caf::actor_id actor, std::string_view name) override;
  void carry(Parcel parcel) override;

  /// Lets go of every actor.
  void clear();

  [[nodiscard]] const Directory& directory() const { return directory_; }
  [[nodiscard]] std::string name_of(caf::actor_id actor) const;

 private:
  void send(Letter letter);
  void deliver(const Letter& letter);

  VirtualTime& time_;
  const Audience& audience_;
  Bug bug_;
  Links links_;
  Directory directory_;
  std::map<std::string, caf::actor_id, std::less<>> ids_;
  std::map<caf::actor_id, std::string> names_;
};

}  // namespace thalweg::sim
