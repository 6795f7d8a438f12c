#pragma once

#include "runtime/values/ids.hpp"

#include <thalweg/config.hpp>
#include <thalweg/result.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

/// Which node hosts which member of the tree. Before the run begins, nodes take the seats of the job's tree,
/// in tree order or in the group they ask for; a leader lives on the node of the first worker below it.
/// Later, who comes is one more worker, with a number of its own. The registrar's decision; knows no actor.
namespace thalweg::rules {

class Placement {
 public:
  /// A member and where it belongs.
  struct Seat {
    MemberId member;
    MemberId parent;
    NodeNumber node;
    friend bool operator==(const Seat&, const Seat&) = default;
  };

  Placement() : Placement(TreeSpec{}) {}
  /// The workers below `local` are hosted by node 0, the root's own.
  explicit Placement(const TreeSpec& tree, std::size_t local = 0);

  /// Gives `node` up to `workers` seats that are free, all of them below `group` when it asks for one.
  /// Fails: `not_found` for a group that is not there, naming those that are; `busy` when no seat is free.
  Result<std::vector<Seat>> take(NodeNumber node, std::size_t workers, std::optional<MemberId> group);

  /// Whether every seat for a worker is taken.
  [[nodiscard]] bool complete() const { return free() == 0; }
  [[nodiscard]] std::size_t free() const;

  /// The run begins: leaders get their nodes. Requires: complete().
  void begin();
  /// It cannot begin yet after all: every seat is free again.
  void begin_again();
  [[nodiscard]] bool begun() const { return begun_; }

  /// One more worker on `node`, while the run goes on: in `group`, or where the fewest workers are. A group
  /// of which nobody is left begins anew: then the new leaders stand before the worker, on the same node.
  /// Fails: `not_found` as `take`.
  Result<std::vector<Seat>> add(NodeNumber node, std::optional<MemberId> group);

  /// `node` is lost with all that it hosted. Before the run begins, its seats are free again. Afterwards
  /// those below a leader that was lost with it begin anew, with new numbers, below a new leader that lives
  /// on the node of the first of them.
  struct Lost {
    std::vector<MemberId> gone;  ///< members that are no more
    std::vector<Seat> seats;     ///< that take their places, aggregators before what is below them
  };
  Lost lose(NodeNumber node);
  /// One worker is gone, its node is not.
  void remove(MemberId member);

  /// All members that are hosted somewhere, aggregators before what is below them.
  [[nodiscard]] const std::vector<Seat>& seats() const { return seats_; }
  [[nodiscard]] std::optional<Seat> find(MemberId member) const;
  /// The leaders above `seats` that are not among them, those above others first.
  [[nodiscard]] std::vector<Seat> above(const std::vector<Seat>& seats) const;
  [[nodiscard]] std::size_t workers() const;  ///< hosted

 private:
  void lay_out(const TreeSpec& tree, MemberId parent);
  void rebuild(const Seat& leader, MemberId parent, Lost& lost);
  [[nodiscard]] bool below(MemberId member, MemberId group) const;
  [[nodiscard]] bool was_there(MemberId group) const;
  [[nodiscard]] MemberId where_workers_are_few() const;
  MemberId revive(MemberId group, NodeNumber node, std::vector<Seat>& made);
  [[nodiscard]] Error no_such_group(MemberId group) const;

  TreeSpec tree_;
  std::size_t local_ = 0;
  std::vector<Seat> seats_;  ///< of who is hosted, or, before the run begins, of everybody
  std::vector<bool> taken_;  ///< by place in seats_
  std::uint32_t next_worker_ = 0;
  std::uint32_t next_leader_ = 0;
  bool begun_ = false;
  /// A leader that is no more, and who leads what is left of its group; nothing: nothing is.
  struct Gone {
    MemberId parent;
    std::optional<MemberId> heir;
  };
  std::map<MemberId, Gone> gone_;
};

}  // namespace thalweg::rules
