#pragma once

#include "actors/role.hpp"
#include "actors/root.hpp"
#include "actors/rules/clocks.hpp"
#include "actors/rules/guard.hpp"
#include "actors/rules/method.hpp"
#include "actors/tallies.hpp"
#include "gpu/buffer.hpp"
#include "runtime/pool/task_pool.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// The aggregator: a group leader or the global aggregator, the same actor at every level. Before it its
/// members (workers or leaders), which contribute; after it its parent, to which it contributes the sum, or,
/// at the root, the global model, whose new parameters go back down to the members. Runs on the actor
/// scheduler's threads; vectors above 1 MiB are folded on the task pool.
///
///   collecting ──Contribution──▶ fold
///       ▲                          │ trigger: close
///       │                          ├── leader: Contribution to the parent
///       │                          └── root: optimizer step, V += 1, Committed, evaluation when due
///       └── Parameters to members ◀──────┘
///
/// How it collects is its trigger's choice: by member, a round at a time, folding the longest ready prefix in
/// member order (aggregator_rounds.cpp); as contributions arrive, or passing them on
/// (aggregator_arrivals.cpp); or into tallies until it is pulled (aggregator_pulled.cpp).
///
/// A contribution counts once and whole: it is folded when its payload is complete and its origin is a
/// member. While it waits, it is a handle to its owner's buffer.
namespace thalweg::actors {

class AggregatorState {
 public:
  struct Options {
    MemberId id;
    std::size_t level = 0;    ///< 0 = root
    AggregatorHandle parent;  ///< null at the root
    std::string parent_name;  ///< "root"
    OwnerHandle supervisor;
    SchedulerHandle scheduler;
    std::shared_ptr<gpu::BufferPool> sums;  ///< `sums_of(method, level)` of them
    TaskPool* pool = nullptr;               ///< null: everything in the handler, for tests
    rules::Method method;
    rules::Guard guard;
    std::optional<Root::Options> root;
  };
  /// One being folded and one on its way; tallies and their spare set; or what eager workers still look at.
  static std::size_t sums_of(const rules::Method& method, std::size_t level);

  explicit AggregatorState(RoleBase<AggregatorHandle>* self) : self_(self) {}
  AggregatorHandle::behavior_type start(Options options);

 private:
  struct Member {
    MemberId id;
    MemberHandle handle;
    bool asked = false;                        ///< to contribute to the open round
    std::optional<Contribution> waiting{};     ///< arrived, not yet folded
    bool arrived = false;                      ///< in this round
    bool worth = false;                        ///< what arrived in this round holds samples, or refusals
    bool gone = false;                         ///< leaves the roster when nothing of it is left
    std::deque<Contribution> early{};          ///< for rounds that are not open yet
    std::uint64_t serial = 0;                  ///< of the newest batch taken from it
    rules::GroupProgress progress{};           ///< a leader's, where it is pulled
    std::uint64_t next_seq = 0;                ///< by rounds: of its next contribution, at least
    std::uint64_t taken = 0;                   ///< by rounds: iterations in what it contributed
    std::optional<std::uint64_t> rested_at{};  ///< iterations after which it had nothing to compute on

    /// It has nothing under way, and will not contribute before it gets something to compute on.
    [[nodiscard]] bool rests() const { return rested_at == taken; }

    void has(Contribution contribution) {
      arrived = true;
      worth = contribution.samples > 0 || !contribution.refused.empty();
      waiting = std::move(contribution);
    }
  };
  struct Asker {
    MemberHandle by;
    Parameters::Answer answer;
  };

  // Members and what they send.
  void update(const Roster& roster);
  void welcome(const Roster::Member& newcomer);
  [[nodiscard]] bool pending(const Member& member) const;
  void settled(const Member& member);
  void take(const Contribution& contribution);
  void drop(const Contribution& contribution);
  void count_bytes(const Contribution& contribution);
  [[nodiscard]] Contribution guarded(const Contribution& contribution);
  [[nodiscard]] Member* find(MemberId id);
  void hear(const Progress& progress);
  void receive(const Parameters& parameters);
  void catch_up();
  void proceed();

  // A round at a time, by member.
  void take_for_round(Member& member, Contribution contribution, const Contribution& arrived);
  void proceed_round();
  bool pull_if_due();
  bool fold_ready(bool all_here);
  [[nodiscard]] rules::TriggerView round_view();
  void contribute();
  void reopen();

  // As they arrive.
  void pass_on(const Member& member, Contribution contribution);
  void proceed_arrivals();
  bool settle_empty();
  bool fold_arrivals();
  void answer_all();
  [[nodiscard]] bool no_more_arrives();
  [[nodiscard]] bool all_rest() const;
  void tell_rest();

  // Until pulled.
  void take_pulled(Member& member, Contribution contribution, const Contribution& arrived);
  void proceed_pulled();
  bool fold_into_tallies();
  void answer_pull();
  void tell_progress();

  // Whatever the way.
  void commit();
  void committed(const Parameters& parameters, const Contribution& round);
  void count_work(const Contribution& round);
  void skip();
  bool run(std::size_t bytes, std::function<void(TaskPool*)> work, std::function<void()> after);
  void retry_later(const rules::Reason& why);
  void wait_for_members(const rules::Reason& why);
  void publish(const Parameters& parameters);
  void send(const Member& member, Parameters parameters);
  void tell_slowest();
  [[nodiscard]] bool all_in(std::uint64_t here) const;
  [[nodiscard]] bool nothing_comes(std::uint64_t here);
  [[nodiscard]] std::optional<Parameters> newest() const;
  Payload take_sum();

  // The end.
  void stop(const Stop& request);
  void quit();

  RoleBase<AggregatorHandle>* self_;
  Options options_;
  rules::TriggerRule trigger_;

  std::vector<Member> members_;
  Round round_;
  Contribution total_;                    ///< of what is folded; the payload follows when the round closes
  std::shared_ptr<gpu::Buffer> sum_;      ///< null until something is folded into it
  Payload only_;                          ///< of a single contribution: its payload is the sum, uncopied
  bool opened_ = false;                   ///< the first roster is here
  bool closing_ = false;                  ///< the trigger fired; what it set off is not done yet
  bool folded_ = false;                   ///< as they arrive: what is closed is in the sum
  bool retrying_ = false;                 ///< a Tick is under way, since no buffer was free
  bool handed_up_ = false;                ///< the parent has the last round; its parameters are not back yet
  std::function<void()> after_work_;      ///< set while a fold or step is on the pool: what follows it
  std::chrono::nanoseconds quorum_at_{};  ///< when so many had arrived; 0: not yet

  std::deque<Contribution> arrivals_;        ///< not taken into a round or a tally yet
  std::vector<Contribution> taken_;          ///< of the round that is being closed
  std::vector<Asker> askers_;                ///< who waits for an answer
  std::map<MemberId, MemberHandle> routes_;  ///< by whom an origin further down is reached
  std::optional<Parameters> newest_;         ///< leaders: from the parent
  std::uint64_t contributions_ = 0;
  std::uint64_t handed_up_iterations_ = 0;  ///< in them
  bool rest_told_ = false;                  ///< the parent was told that all members rest

  Tallies tallies_;
  std::vector<Tallies::Tally> pulled_;  ///< swapped out for `pull_`
  std::optional<Pull> pull_;            ///< not answered yet
  std::uint64_t iterations_ = 0;        ///< taken in, of workers right below

  std::uint64_t bytes_up_ = 0;
  std::uint64_t bytes_down_ = 0;
  std::uint64_t dropped_ = 0;  ///< contributions from strangers, of other rounds, or twice

  std::optional<Root> root_;
  Payload initial_;                                       ///< root: the parameters that it began with
  std::map<MemberId, Payload> held_;                      ///< root: those that origins have now, for dcasgd
  rules::Clocks clocks_;                                  ///< root: of all workers
  std::map<std::uint32_t, std::uint64_t> iterations_of_;  ///< root: finished by workers, as they contributed
  std::size_t workers_ = 0;                               ///< root: λ
  std::uint64_t told_slowest_ = 0;
  bool pulling_ = false;        ///< root: a pull is under way
  bool drained_ = false;        ///< root: nothing is left to give out
  std::uint64_t batches_ = 0;   ///< root, when drained: given out in all
  std::uint64_t finished_ = 0;  ///< root: iterations in rounds that are closed
  bool diverged_ = false;       ///< root: nothing more is committed
  bool quitting_ = false;       ///< root: asked to quit while a step is on the pool
};

}  // namespace thalweg::actors
