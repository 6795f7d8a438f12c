#include "actors/rules/placement.hpp"

#include "runtime/check.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace thalweg::rules {

namespace {

bool is_worker(MemberId id) { return id.kind == MemberId::Kind::worker; }

}  // namespace

Placement::Placement(const TreeSpec& tree, std::size_t local) : tree_(tree), local_(local) {
  lay_out(tree, root_id());
  taken_.assign(seats_.size(), false);
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    taken_[i] = is_worker(seats_[i].member) && seats_[i].member.number < local;
  }
}

/// In the order in which a tree is numbered: an aggregator's workers, then its leaders, each with what is
/// below.
void Placement::lay_out(const TreeSpec& tree, MemberId parent) {
  for (std::size_t i = 0; i < tree.workers; ++i) seats_.push_back({worker_id(next_worker_++), parent, {}});
  for (const auto& child : tree.children) {
    const auto leader = leader_id(next_leader_++);
    seats_.push_back({leader, parent, {}});
    lay_out(child, leader);
  }
}

std::optional<Placement::Seat> Placement::find(MemberId member) const {
  const auto found =
      std::find_if(seats_.begin(), seats_.end(), [&](const Seat& seat) { return seat.member == member; });
  return found == seats_.end() ? std::nullopt : std::optional(*found);
}

std::vector<Placement::Seat> Placement::above(const std::vector<Seat>& seats) const {
  std::vector<Seat> leaders;
  const auto known = [&](const Seat& leader) {
    return std::find(seats.begin(), seats.end(), leader) != seats.end() ||
           std::find(leaders.begin(), leaders.end(), leader) != leaders.end();
  };
  for (const auto& seat : seats) {
    std::vector<Seat> chain;
    for (auto leader = find(seat.parent); leader; leader = find(leader->parent)) {
      if (!known(*leader)) chain.push_back(*leader);
    }
    leaders.insert(leaders.end(), chain.rbegin(), chain.rend());
  }
  return leaders;
}

bool Placement::below(MemberId member, MemberId group) const {
  for (auto seat = find(member); seat; seat = find(seat->parent)) {
    if (seat->parent == group) return true;
  }
  return false;
}

Error Placement::no_such_group(MemberId group) const {
  std::string groups;
  for (const auto& seat : seats_) {
    if (is_worker(seat.member)) continue;
    groups += (groups.empty() ? "" : ", ") + seat.member.text();
  }
  return {ErrorCode::not_found, "there is no group " + group.text() +
                                    " in this run: " + (groups.empty() ? "it has none" : "it has " + groups)};
}

std::size_t Placement::free() const {
  std::size_t free = 0;
  for (std::size_t i = 0; i < seats_.size(); ++i) free += is_worker(seats_[i].member) && !taken_[i] ? 1 : 0;
  return free;
}

Result<std::vector<Placement::Seat>> Placement::take(NodeNumber node, std::size_t workers,
                                                     std::optional<MemberId> group) {
  if (group && *group != root_id() && !find(*group)) return no_such_group(*group);
  std::vector<Seat> given;
  for (std::size_t i = 0; i < seats_.size() && given.size() < workers; ++i) {
    auto& seat = seats_[i];
    if (!is_worker(seat.member) || taken_[i] || (group && !below(seat.member, *group))) continue;
    taken_[i] = true;
    seat.node = node;
    given.push_back(seat);
  }
  if (given.empty()) {
    return Error{ErrorCode::busy, group ? "every seat in group " + group->text() + " is taken"
                                        : "every seat of the run's tree is taken"};
  }
  return given;
}

void Placement::begin() {
  THALWEG_CHECK(complete(), "a run begins when every seat is taken");
  begun_ = true;
  // From below: a leader's first worker may be its leader's.
  for (auto leader = seats_.rbegin(); leader != seats_.rend(); ++leader) {
    if (is_worker(leader->member)) continue;
    const auto first = std::find_if(seats_.begin(), seats_.end(), [&](const Seat& seat) {
      return is_worker(seat.member) && below(seat.member, leader->member);
    });
    if (first != seats_.end()) leader->node = first->node;
  }
  taken_.assign(seats_.size(), true);
}

void Placement::begin_again() { *this = Placement(TreeSpec(tree_), local_); }

bool Placement::was_there(MemberId group) const {
  return group == root_id() || find(group).has_value() || gone_.contains(group);
}

/// The aggregator of workers that has the fewest. Where leaders lead leaders, workers are elsewhere, since
/// not every method takes them there; groups that died out have none.
MemberId Placement::where_workers_are_few() const {
  std::map<MemberId, std::size_t> workers{{root_id(), 0}};
  for (const auto& seat : seats_) {
    if (!is_worker(seat.member)) workers.try_emplace(seat.member);
    if (is_worker(seat.member)) ++workers[seat.parent];
  }
  std::set<MemberId> lead_leaders;
  for (const auto& seat : seats_) {
    if (!is_worker(seat.member)) lead_leaders.insert(seat.parent);
  }
  for (const auto& [leader, gone] : gone_) {
    lead_leaders.insert(gone.parent);
    if (!gone.heir) workers.try_emplace(leader);
  }
  std::erase_if(workers,
                [&](const auto& each) { return each.second == 0 && lead_leaders.contains(each.first); });
  const auto fewest =
      std::min_element(workers.begin(), workers.end(),
                       [](const auto& one, const auto& other) { return one.second < other.second; });
  return fewest == workers.end() ? root_id() : fewest->first;
}

/// Who leads `group` now; when nobody does, a new leader on `node`, below whoever leads what was above it.
MemberId Placement::revive(MemberId group, NodeNumber node, std::vector<Seat>& made) {
  const auto found = gone_.find(group);
  if (found == gone_.end()) return group;
  if (found->second.heir) return revive(*found->second.heir, node, made);
  const auto parent = revive(found->second.parent, node, made);
  const auto heir = leader_id(next_leader_++);
  gone_.at(group).heir = heir;
  made.push_back({heir, parent, node});
  return heir;
}

Result<std::vector<Placement::Seat>> Placement::add(NodeNumber node, std::optional<MemberId> group) {
  if (group && !was_there(*group)) return no_such_group(*group);
  std::vector<Seat> made;
  const auto parent = revive(group ? *group : where_workers_are_few(), node, made);
  made.push_back({worker_id(next_worker_++), parent, node});
  seats_.insert(seats_.end(), made.begin(), made.end());
  taken_.resize(seats_.size(), true);
  return made;
}

Placement::Lost Placement::lose(NodeNumber node) {
  Lost lost;
  std::vector<Seat> leaders;
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    if (!taken_[i] || seats_[i].node != node) continue;
    if (is_worker(seats_[i].member)) {
      lost.gone.push_back(seats_[i].member);
    } else {
      leaders.push_back(seats_[i]);
    }
    if (!begun_) taken_[i] = false;
  }
  if (!begun_) return lost;
  for (const auto& worker : lost.gone) remove(worker);
  for (const auto& leader : leaders) {
    if (!find(leader.member)) continue;  // it was below another one
    Lost anew;
    rebuild(leader, leader.parent, anew);
    for (const auto& member : anew.gone) remove(member);
    seats_.insert(seats_.end(), anew.seats.begin(), anew.seats.end());
    taken_.resize(seats_.size(), true);
    lost.gone.insert(lost.gone.end(), anew.gone.begin(), anew.gone.end());
    lost.seats.insert(lost.seats.end(), anew.seats.begin(), anew.seats.end());
  }
  return lost;
}

/// Everybody below a leader that is gone begins anew: its own leaders with what is below them, too.
void Placement::rebuild(const Seat& leader, MemberId parent, Lost& lost) {
  lost.gone.push_back(leader.member);
  const auto first = std::find_if(seats_.begin(), seats_.end(), [&](const Seat& seat) {
    return is_worker(seat.member) && below(seat.member, leader.member);
  });
  const bool leads = first != seats_.end();
  const Seat heir{leader_id(leads ? next_leader_++ : 0), parent, leads ? first->node : NodeNumber{}};
  if (leads) lost.seats.push_back(heir);
  gone_[leader.member] = {parent, leads ? std::optional(heir.member) : std::nullopt};
  for (const auto& member : seats_) {
    if (member.parent != leader.member) continue;
    if (!is_worker(member.member)) {
      rebuild(member, heir.member, lost);
      continue;
    }
    lost.gone.push_back(member.member);
    lost.seats.push_back({worker_id(next_worker_++), heir.member, member.node});
  }
}

void Placement::remove(MemberId member) {
  const auto found =
      std::find_if(seats_.begin(), seats_.end(), [&](const Seat& seat) { return seat.member == member; });
  if (found == seats_.end()) return;
  taken_.erase(taken_.begin() + (found - seats_.begin()));
  seats_.erase(found);
}

std::size_t Placement::workers() const {
  std::size_t hosted = 0;
  for (std::size_t i = 0; i < seats_.size(); ++i) hosted += is_worker(seats_[i].member) && taken_[i] ? 1 : 0;
  return hosted;
}

}  // namespace thalweg::rules
