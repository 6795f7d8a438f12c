#pragma once

#include "actors/role.hpp"
#include "actors/root.hpp"
#include "actors/rules/guard.hpp"
#include "actors/rules/method.hpp"
#include "gpu/buffer.hpp"
#include "runtime/pool/task_pool.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// The aggregator: a group leader or the global aggregator, the same actor at every level. Before it its
/// members (workers or leaders), which contribute; after it its parent, to which it contributes the sum, or,
/// at the root, the global model, whose new parameters go back down to the members. Runs on the actor
/// scheduler's threads; vectors above 1 MiB are folded on the task pool.
///
///   collecting ──Contribution──▶ fold the longest ready prefix, in member order
///       ▲                              │ trigger: close
///       │                              ├── leader: Contribution to the parent, then wait for its Parameters
///       │                              └── root: optimizer step, V += 1, Committed, evaluation when due
///       └────── Parameters to the members ◀──────┘
///
/// A contribution counts once and whole: it is folded when its payload is complete and its origin is a member
/// of the open round. While it waits, it is a handle to its owner's buffer.
namespace thalweg::actors {

class AggregatorState {
 public:
  struct Options {
    MemberId id;
    std::size_t level = 0;    ///< 0 = root
    AggregatorHandle parent;  ///< null at the root
    std::string parent_name;  ///< "root"
    SupervisorHandle supervisor;
    std::shared_ptr<gpu::BufferPool> sums;  ///< two: one being folded, one on its way up
    TaskPool* pool = nullptr;               ///< null: everything in the handler, for tests
    rules::Method method;
    rules::Guard guard;
    std::optional<Root::Options> root;
  };

  explicit AggregatorState(RoleBase<AggregatorHandle>* self) : self_(self) {}
  AggregatorHandle::behavior_type start(Options options);

 private:
  struct Member {
    MemberId id;
    MemberHandle handle;
    std::optional<Contribution> waiting;  ///< arrived, not yet folded
    bool arrived = false;                 ///< in this round
    bool gone = false;                    ///< leaves the roster when this round is closed
  };

  // The round.
  void update(const Roster& roster);
  void take(const Contribution& contribution);
  [[nodiscard]] Contribution guarded(const Contribution& contribution);
  void proceed();
  bool fold_ready();
  void add_up(const Contribution& contribution);
  bool run(std::size_t bytes, std::function<void(TaskPool*)> work, std::function<void()> after);
  void retry_later(const rules::Reason& why);
  void wait_for_members(const rules::Reason& why);

  // Closing it.
  void contribute();
  void commit();
  void publish(const Parameters& parameters);
  Payload take_sum();
  void reopen();

  // The end.
  void stop(const Stop& request);
  void quit();

  RoleBase<AggregatorHandle>* self_;
  Options options_;
  std::unique_ptr<rules::TriggerRule> trigger_;
  std::unique_ptr<rules::MergeRule> merge_;

  std::vector<Member> members_;
  Round round_;
  std::size_t arrived_ = 0;
  std::size_t folded_ = 0;            ///< members in the sum: a prefix of `members_`
  Contribution total_;                ///< of the folded members; the payload follows when the round closes
  std::shared_ptr<gpu::Buffer> sum_;  ///< null until something is folded into it
  Payload only_;                      ///< with a single member: its payload is the sum, uncopied
  bool opened_ = false;               ///< the first roster is here
  std::optional<Parameters> early_;   ///< that came before it, for the members it names
  bool closing_ = false;              ///< the trigger fired; what it set off is not done yet
  bool retrying_ = false;             ///< a Tick is under way, since no buffer was free
  bool handed_up_ = false;            ///< the parent has the last round; its parameters are not back yet
  std::function<void()> after_work_;  ///< set while a fold or step is on the pool: what follows it

  std::uint64_t bytes_up_ = 0;
  std::uint64_t bytes_down_ = 0;
  std::uint64_t dropped_ = 0;  ///< contributions from strangers, of other rounds, or twice

  std::optional<Root> root_;
  bool diverged_ = false;  ///< root only: nothing more is committed
  bool quitting_ = false;  ///< root only: asked to quit while a step is on the pool
};

}  // namespace thalweg::actors
