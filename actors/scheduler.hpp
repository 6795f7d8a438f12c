#pragma once

#include "actors/role.hpp"
#include "actors/rules/allotment.hpp"
#include "actors/rules/balance.hpp"
#include "actors/rules/method.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// The scheduler: beside the root, it knows who belongs to the tree and which samples are whose. Before it
/// the supervisor (who stands, who is lost) and the root (which rounds are closed); after it the aggregators
/// (rosters), the feeder (leases) and the root again (when the data are spent). Runs on the actor scheduler's
/// threads.
namespace thalweg::actors {

class SchedulerState {
 public:
  struct Options {
    rules::Allotment::Options allotment;
    rules::Method method;
    std::optional<rules::Balance> balance;
    Round first;                   ///< the first round of the run, or of its resumption
    std::uint64_t strikes = 3;     ///< so many cost a worker its place
    std::size_t min_workers = 1;   ///< with fewer the run pauses, or ends
    bool others_may_come = false;  ///< which of the two
    std::uint64_t batch = 1;       ///< samples of a newcomer's first batches
    SupervisorHandle supervisor;
    ReporterHandle reporter;
  };

  explicit SchedulerState(RoleBase<SchedulerHandle>* self) : self_(self) {}
  SchedulerHandle::behavior_type start(Options options);

 private:
  struct Aggregator {
    MemberId id;
    AggregatorHandle handle;
    std::vector<Roster::Member> members;
    MemberId parent = {};  ///< of a leader
    bool attached = true;  ///< its parent has it on its roster
  };

  void admit(const Hello& hello);
  void join(const Joined& joined);
  [[nodiscard]] Aggregator* find(MemberId aggregator);
  /// Puts a leader that led nobody for a while back on its parent's roster.
  void attach(Aggregator& leader);
  void lease();
  bool lease_rounds();
  bool lease_batches();
  void settled(Round round, const rules::Allotment::Settled& settled);
  void drain(bool drained);
  void pause_or_go_on();
  void retire(const RoundClosed& closed);
  void depart(MemberId worker, const std::string& why);
  void fence(const Fenced& fenced);
  /// Takes `member` off the roster it is on, and its leader too when that leads nobody any more.
  void remove(MemberId member);

  RoleBase<SchedulerHandle>* self_;
  std::optional<Options> options_;
  std::optional<rules::Allotment> allotment_;
  std::vector<Aggregator> tree_;  ///< root first, then in tree order
  struct Supply {
    std::uint64_t given = 0, served = 0;  ///< serials of batches
    std::size_t feeder = 0;               ///< that serves it: place in feeders_
  };

  std::vector<FeederHandle> feeders_;               ///< one per node
  std::deque<rules::RoundShare> leased_;            ///< planned rounds that are not closed, the oldest first
  Round next_;                                      ///< first round not yet leased
  Round open_;                                      ///< first round not yet closed
  std::map<std::uint32_t, std::uint64_t> strikes_;  ///< by worker number
  std::set<MemberId> departed_;
  std::map<std::uint32_t, MemberId>
      unfenced_;  ///< lost workers whose batches may still count: and whose they were
  std::map<std::uint32_t, Supply> supplies_;  ///< by worker number, where rounds are not planned
  bool drained_ = false;                      ///< the root was told that nothing is left to give out
  std::uint64_t told_ = 0;                    ///< and after how many batches
  std::vector<bool> dry_;                     ///< what the feeder was told of the same, by worker number
  bool spent_ = false;                        ///< the root was told that no round follows
  bool paused_ = false;                       ///< there are too few workers
};

}  // namespace thalweg::actors
