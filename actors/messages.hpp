#pragma once

#include "actors/interfaces.hpp"
#include "actors/node_messages.hpp"
#include "actors/rules/allotment.hpp"
#include "actors/snapshot.hpp"
#include "runtime/values/batch.hpp"
#include "runtime/values/contribution.hpp"
#include "runtime/values/parameters.hpp"
#include "runtime/values/stamp.hpp"

#include <caf/allowed_unsafe_message_type.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// The bodies that actors exchange, in the order in which a round uses them. Each travels behind a Stamp; who
/// may receive which is in actors/interfaces.hpp. Batch, Contribution and Parameters are in runtime/values.
/// Those that may cross nodes are listed in actors/codec.hpp; CAF itself never does that for them.
namespace thalweg::actors {

// -- before the first round
// ------------------------------------------------------------------------------------

/// scheduler -> root, leaders: who your members are, in the order in which they are folded; later, who is so
/// no longer. What a member had contributed to the open round by then counts; the round closes over the rest.
struct Roster {
  struct Member {
    MemberId id;
    MemberHandle handle;
  };
  std::vector<Member> added;
  std::vector<MemberId> removed;
  Round first;                         ///< the round that opens with the first roster
  std::vector<std::uint32_t> workers;  ///< root only: numbers of all workers in the tree
};

/// supervisor -> scheduler: these actors stand, wired to each other.
struct Hello {
  struct Aggregator {
    MemberId id;
    AggregatorHandle handle;
    Roster roster;
  };
  struct Feeder {
    FeederHandle handle;
    std::vector<std::uint32_t> workers;  ///< that it serves, by number
  };
  std::vector<Aggregator> aggregators;  ///< root first
  std::vector<Feeder> feeders;          ///< one per node
};

// -- cutting batches
// -------------------------------------------------------------------------------------------

/// scheduler -> feeder: cut these rounds, or these batches.
struct Lease {
  std::vector<rules::RoundShare> rounds;  ///< consecutive
  Round open;                             ///< rounds before it are closed: nobody asks for them any more
  std::vector<rules::GivenBatch> batches = {};  ///< where rounds are not planned
  std::vector<bool> dry = {};  ///< likewise, by worker number: there is nothing that it may have, for now
};

/// worker -> feeder: cut my next batch. The answer is a Batch.
struct WantBatch {
  std::uint32_t worker = 0;
  WorkerHandle answer_to;
  bool patient = false;  ///< rather later than an empty one
};

/// feeder -> scheduler: the worker has got the batches up to this one; keep it supplied.
struct Served {
  std::uint32_t worker = 0;
  std::uint64_t serial = 0;
};

// -- computing and folding
// -------------------------------------------------------------------------------------

/// stream -> its worker: the step is over.
struct StepDone {
  std::string failure;  ///< why it failed; empty: it did not
  Score score;
  std::uint64_t compute_ns = 0;
  double norm = 0;  ///< of what would be contributed now
};

/// worker, leader -> the aggregator above: how far I am. Cumulative: only the newest counts.
struct Progress {
  MemberId origin;
  std::uint64_t iterations = 0;
  Version oldest;      ///< base version of the oldest thing held
  bool rests = false;  ///< a worker's: it has nothing to compute on
};

/// root -> leaders, and from there down: hand over what you hold. The answer is a Contribution.
struct Pull {
  Round round;
  Version version;  ///< the present one, from which ages are counted
};

/// root -> leaders -> workers: the slowest worker has finished so many iterations.
struct Slowest {
  std::uint64_t iterations = 0;
};

/// pool -> its aggregator: the fold or the optimizer's step that was too large for a handler is done.
struct FoldDone {};

/// An actor -> itself: look again, a buffer may have come back.
struct Tick {};

// -- after a commit
// --------------------------------------------------------------------------------------------

/// root -> scheduler: a round is over.
struct RoundClosed {
  Round round;
  std::vector<IndexRange> spent;  ///< empty: it made no commit
  std::vector<Refusal> refused;
  std::vector<Work> work;
};

/// aggregator -> scheduler: nothing more is taken from this worker than what it had of its batches up to
/// `serial`; or nothing more from this leader than what is settled already.
struct Fenced {
  MemberId member;
  std::uint64_t serial = 0;
};

/// scheduler -> root: whether every sample of the budget is given out or settled, so that no more may come
/// than what is under way.
struct Drained {
  bool drained = true;
  std::uint64_t batches = 0;  ///< given out in this run and not taken back
};

/// root -> reporter: a round was committed.
struct Committed {
  CommitRecord record;
  Score score;  ///< of the round, at the parameters before it
  std::uint64_t compute_ns = 0;
  std::uint64_t bytes_up = 0, bytes_down = 0;  ///< through the root, whole run
  std::vector<Age> ages = {};                  ///< of what it was made from
  std::vector<Work> work = {};
};

/// root -> evaluator: score these parameters. The answer is an Evaluation.
struct Evaluate {
  Version version;
  std::uint64_t committed_samples = 0;
  Payload parameters;
  AggregatorHandle answer_to;
};

/// evaluator -> root -> reporter: what they scored.
struct Evaluation {
  Version version;
  std::uint64_t committed_samples = 0;
  Score score;
  std::string failure;  ///< empty: none
  Payload parameters;   ///< that were scored
};

/// root -> keeper: write a checkpoint. The answer is a CheckpointDone.
struct Checkpoint {
  std::shared_ptr<const Snapshot> snapshot;
  AggregatorHandle answer_to;
};

/// root -> keeper: these are the best parameters so far.
struct Best {
  Version version;
  std::uint64_t committed_samples = 0;
  double accuracy = 0;
  Payload parameters;
};

/// keeper -> root, reporter: a checkpoint is on the disk, or could not be written.
struct CheckpointDone {
  Version version;
  std::string failure;  ///< empty: none
};

// -- when somebody comes, or is lost
// -------------------------------------------------------------------------------------

/// cluster -> supervisor: one more worker below this aggregator.
struct AddWorker {
  MemberId parent;
};

/// supervisor -> scheduler: one more member stands. It takes part from the version on that it is sent now.
struct Joined {
  Roster::Member member;
  MemberId parent;
  FeederHandle feeder;           ///< of a worker's node
  AggregatorHandle leader = {};  ///< a leader's
};

/// scheduler -> reporter: the run goes on with it.
struct Arrived {
  MemberId member;
  std::size_t workers = 0;  ///< with it
};

/// supervisor -> scheduler: a member is gone, or cannot go on. A leader's workers before it.
struct Left {
  MemberId member;
  std::string why;
};

/// scheduler -> reporter: there are too few workers, or enough again.
struct Paused {
  std::size_t workers = 0;  ///< there are
  std::size_t wanted = 0;   ///< `sync.min_workers`
  [[nodiscard]] bool over() const { return workers >= wanted; }
};

/// scheduler -> reporter: the run goes on without it.
struct Departed {
  MemberId member;
  std::string why;
  std::size_t workers_left = 0;
};

// -- the end
// ---------------------------------------------------------------------------------------------------

/// scheduler -> root: every sample of the budget is committed or quarantined.
struct DataSpent {};

/// Who or what ends a run: the `ended_by` of its summary.
enum class EndedBy { nobody, data, stop, max_time, target_accuracy };

/// cluster -> supervisor -> everybody.
struct Stop {
  enum class When {
    after_round,  ///< root: make the round in flight the last one
    now,          ///< hand over what you have, answer Stopped, and quit
  } when = When::after_round;
  EndedBy by = EndedBy::stop;
};

/// root -> supervisor: the last commit is made and evaluated, or Stop{now} arrived; this is the outcome.
struct Finished {
  std::shared_ptr<const Snapshot> snapshot;
  EndedBy by = EndedBy::nobody;
};

/// anybody -> supervisor: I, or the evaluation I asked for, cannot go on.
struct Failed {
  std::string who;
  std::string why;
  bool diverged = false;           ///< numbers are no longer finite
  std::optional<MemberId> worker;  ///< set when it is a worker: others may go on without it
};

/// anybody -> supervisor, last words before it quits.
struct Stopped {
  std::string who;
  std::uint64_t messages = 0;                  ///< it handled
  std::optional<std::size_t> level;            ///< aggregators only: 0 = root
  std::uint64_t bytes_up = 0, bytes_down = 0;  ///< aggregators: contributions received, parameters sent
};

/// supervisor -> reporter: sum it up.
struct Closing {
  std::shared_ptr<const Snapshot> snapshot;  ///< null when the root was lost
  std::string end;                           ///< done, stopped, diverged, failed
  EndedBy by = EndedBy::nobody;
  std::string failure;
  std::uint64_t messages = 0;
  std::vector<std::uint64_t> bytes_up, bytes_down;  ///< per level
};

// -- which kind a body is
// --------------------------------------------------------------------------------------

template <class Body>
inline constexpr MessageKind kind_of = MessageKind::none;

template <>
inline constexpr MessageKind kind_of<Hello> = MessageKind::hello;
template <>
inline constexpr MessageKind kind_of<Roster> = MessageKind::roster;
template <>
inline constexpr MessageKind kind_of<Lease> = MessageKind::lease;
template <>
inline constexpr MessageKind kind_of<WantBatch> = MessageKind::want_batch;
template <>
inline constexpr MessageKind kind_of<Batch> = MessageKind::batch;
template <>
inline constexpr MessageKind kind_of<StepDone> = MessageKind::step_done;
template <>
inline constexpr MessageKind kind_of<Contribution> = MessageKind::contribution;
template <>
inline constexpr MessageKind kind_of<FoldDone> = MessageKind::fold_done;
template <>
inline constexpr MessageKind kind_of<Parameters> = MessageKind::parameters;
template <>
inline constexpr MessageKind kind_of<Tick> = MessageKind::tick;
template <>
inline constexpr MessageKind kind_of<Committed> = MessageKind::committed;
template <>
inline constexpr MessageKind kind_of<Evaluate> = MessageKind::evaluate;
template <>
inline constexpr MessageKind kind_of<Evaluation> = MessageKind::evaluation;
template <>
inline constexpr MessageKind kind_of<Stop> = MessageKind::stop;
template <>
inline constexpr MessageKind kind_of<Stopped> = MessageKind::stopped;
template <>
inline constexpr MessageKind kind_of<Finished> = MessageKind::finished;
template <>
inline constexpr MessageKind kind_of<Failed> = MessageKind::failed;
template <>
inline constexpr MessageKind kind_of<Closing> = MessageKind::closing;
template <>
inline constexpr MessageKind kind_of<RoundClosed> = MessageKind::round_closed;
template <>
inline constexpr MessageKind kind_of<DataSpent> = MessageKind::data_spent;
template <>
inline constexpr MessageKind kind_of<Left> = MessageKind::left;
template <>
inline constexpr MessageKind kind_of<Departed> = MessageKind::departed;
template <>
inline constexpr MessageKind kind_of<Checkpoint> = MessageKind::checkpoint;
template <>
inline constexpr MessageKind kind_of<Best> = MessageKind::best;
template <>
inline constexpr MessageKind kind_of<CheckpointDone> = MessageKind::checkpoint_done;

template <>
inline constexpr MessageKind kind_of<Progress> = MessageKind::progress;
template <>
inline constexpr MessageKind kind_of<Pull> = MessageKind::pull;
template <>
inline constexpr MessageKind kind_of<Slowest> = MessageKind::slowest;
template <>
inline constexpr MessageKind kind_of<Served> = MessageKind::served;
template <>
inline constexpr MessageKind kind_of<Fenced> = MessageKind::fenced;
template <>
inline constexpr MessageKind kind_of<Drained> = MessageKind::drained;
template <>
inline constexpr MessageKind kind_of<Apply> = MessageKind::apply;
template <>
inline constexpr MessageKind kind_of<Admit> = MessageKind::admit;
template <>
inline constexpr MessageKind kind_of<Refuse> = MessageKind::refuse;
template <>
inline constexpr MessageKind kind_of<Ready> = MessageKind::ready;
template <>
inline constexpr MessageKind kind_of<Host> = MessageKind::host;
template <>
inline constexpr MessageKind kind_of<Hosted> = MessageKind::hosted;
template <>
inline constexpr MessageKind kind_of<Dismiss> = MessageKind::dismiss;
template <>
inline constexpr MessageKind kind_of<Heartbeat> = MessageKind::heartbeat;
template <>
inline constexpr MessageKind kind_of<Leave> = MessageKind::leave;
template <>
inline constexpr MessageKind kind_of<Met> = MessageKind::met;
template <>
inline constexpr MessageKind kind_of<Parted> = MessageKind::parted;
template <>
inline constexpr MessageKind kind_of<Assembled> = MessageKind::assembled;
template <>
inline constexpr MessageKind kind_of<Fetch> = MessageKind::fetch;
template <>
inline constexpr MessageKind kind_of<Holding> = MessageKind::holding;
template <>
inline constexpr MessageKind kind_of<Inquire> = MessageKind::inquire;
template <>
inline constexpr MessageKind kind_of<Report> = MessageKind::report;
template <>
inline constexpr MessageKind kind_of<Paused> = MessageKind::paused;
template <>
inline constexpr MessageKind kind_of<Joined> = MessageKind::joined;
template <>
inline constexpr MessageKind kind_of<Arrived> = MessageKind::arrived;
template <>
inline constexpr MessageKind kind_of<AddWorker> = MessageKind::add_worker;

}  // namespace thalweg::actors
