#pragma once

#include "runtime/values/batch.hpp"
#include "runtime/values/contribution.hpp"
#include "runtime/values/parameters.hpp"
#include "runtime/values/stamp.hpp"

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/typed_actor.hpp>

/// Every role's typed handle, on one screen: which messages it takes, from whom. The bodies are in
/// actors/messages.hpp. A role reaches its neighbours through such handles only, and never asks where they
/// are.
///
///      scheduler ──Lease──▶ feeder ──Batch──▶ worker ──Contribution──▶ leader ──Contribution──▶ root
///          ▲                                    ▲                        │                       │ │
///          │                                    └──────Parameters────────┴──────Parameters───────┘ │
///          └──────────────────────────────────RoundClosed──────────────────────────────────────────┘
namespace thalweg::actors {

struct Hello;
struct Roster;
struct Lease;
struct WantBatch;
struct StepDone;
struct FoldDone;
struct Tick;
struct Committed;
struct Evaluate;
struct Evaluation;
struct Stop;
struct Stopped;
struct Finished;
struct Failed;
struct Closing;
struct RoundClosed;
struct DataSpent;
struct Left;
struct Departed;
struct Checkpoint;
struct Best;
struct CheckpointDone;
struct Progress;
struct Pull;
struct Slowest;
struct Served;
struct Fenced;
struct Drained;
struct Joined;
struct Arrived;
struct AddWorker;
struct Apply;
struct Admit;
struct Refuse;
struct Ready;
struct Host;
struct Hosted;
struct Dismiss;
struct Heartbeat;
struct Leave;
struct Met;
struct Parted;
struct Assembled;
struct Paused;
struct Report;
struct Inquire;
struct Holding;
struct Fetch;

/// Whoever spawned an actor, as it sees them.
using OwnerHandle = caf::typed_actor<caf::reacts_to<Stamp, Failed>,    // I cannot go on
                                     caf::reacts_to<Stamp, Stopped>>;  // last words

/// A worker or leader, as the aggregator above it sees it.
using MemberHandle = caf::typed_actor<caf::reacts_to<Stamp, Parameters>,  // parent: a round was committed
                                      caf::reacts_to<Stamp, Slowest>,     // parent: the slowest has gone on
                                      caf::reacts_to<Stamp, Pull>,        // parent: hand over (leaders only)
                                      caf::reacts_to<Stamp, Stop>>;       // supervisor: quit

using WorkerHandle = MemberHandle::extend<caf::reacts_to<Stamp, Batch>,     // feeder: in answer to WantBatch
                                          caf::reacts_to<Stamp, StepDone>,  // own stream
                                          caf::reacts_to<Stamp, Tick>>;     // itself

/// A leader or the root: the same actor at every level of the tree.
using AggregatorHandle =
    MemberHandle::extend<caf::reacts_to<Stamp, Roster>,          // scheduler: who the members are
                         caf::reacts_to<Stamp, Contribution>,    // members
                         caf::reacts_to<Stamp, Progress>,        // members
                         caf::reacts_to<Stamp, FoldDone>,        // task pool
                         caf::reacts_to<Stamp, Tick>,            // itself
                         caf::reacts_to<Stamp, Evaluation>,      // evaluator (root only, as those below)
                         caf::reacts_to<Stamp, CheckpointDone>,  // keeper
                         caf::reacts_to<Stamp, Drained>,         // scheduler: nothing is left to give out
                         caf::reacts_to<Stamp, DataSpent>>;      // scheduler: no round follows

using FeederHandle = caf::typed_actor<caf::reacts_to<Stamp, Lease>,      // scheduler: rounds to cut
                                      caf::reacts_to<Stamp, WantBatch>,  // workers of this node
                                      caf::reacts_to<Stamp, Stop>>;      // supervisor

using SchedulerHandle = caf::typed_actor<caf::reacts_to<Stamp, Hello>,        // supervisor: actors stand
                                         caf::reacts_to<Stamp, Joined>,       // supervisor: one more worker
                                         caf::reacts_to<Stamp, Left>,         // supervisor: a worker is lost
                                         caf::reacts_to<Stamp, Served>,       // feeder
                                         caf::reacts_to<Stamp, Fenced>,       // aggregators
                                         caf::reacts_to<Stamp, RoundClosed>,  // root
                                         caf::reacts_to<Stamp, Stop>>;        // supervisor

using EvaluatorHandle = caf::typed_actor<caf::reacts_to<Stamp, Evaluate>,  // root
                                         caf::reacts_to<Stamp, StepDone>,  // own stream
                                         caf::reacts_to<Stamp, Stop>>;     // supervisor

using KeeperHandle = caf::typed_actor<caf::reacts_to<Stamp, Checkpoint>,  // root
                                      caf::reacts_to<Stamp, Best>,        // root
                                      caf::reacts_to<Stamp, Stop>>;       // supervisor

using ReporterHandle = caf::typed_actor<caf::reacts_to<Stamp, Committed>,       // root
                                        caf::reacts_to<Stamp, Evaluation>,      // root
                                        caf::reacts_to<Stamp, CheckpointDone>,  // keeper
                                        caf::reacts_to<Stamp, Arrived>,         // scheduler
                                        caf::reacts_to<Stamp, Departed>,        // scheduler
                                        caf::reacts_to<Stamp, Paused>,          // scheduler
                                        caf::reacts_to<Stamp, Closing>>;        // supervisor

using SupervisorHandle = caf::typed_actor<caf::reacts_to<Stamp, Finished>,   // root
                                          caf::reacts_to<Stamp, Failed>,     // workers, scheduler, root
                                          caf::reacts_to<Stamp, Stopped>,    // all
                                          caf::reacts_to<Stamp, AddWorker>,  // cluster
                                          caf::reacts_to<Stamp, Joined>,     // registrar
                                          caf::reacts_to<Stamp, Left>,       // registrar
                                          caf::reacts_to<Stamp, Stop>>;      // cluster

/// Who lets nodes in, beside the root, where there are others.
using RegistrarHandle = caf::typed_actor<caf::reacts_to<Stamp, Apply>,      // a node that wants in
                                         caf::reacts_to<Stamp, Ready>,      // likewise, with data and model
                                         caf::reacts_to<Stamp, Holding>,    // node that was asked
                                         caf::reacts_to<Stamp, Inquire>,    // whoever wants to know
                                         caf::reacts_to<Stamp, Hosted>,     // node: they stand
                                         caf::reacts_to<Stamp, Heartbeat>,  // node
                                         caf::reacts_to<Stamp, Leave>,      // node
                                         caf::reacts_to<Stamp, Failed>,     // node: a worker of it
                                         caf::reacts_to<Stamp, Stopped>,    // node: all of it
                                         caf::reacts_to<Stamp, Parted>,     // postman
                                         caf::reacts_to<Stamp, Stop>,       // supervisor: the run is over
                                         caf::reacts_to<Stamp, Tick>>;      // itself

/// Who wants to know how a run is, and takes no part in it.
using InquirerHandle = caf::typed_actor<caf::reacts_to<Stamp, Report>,   // registrar
                                        caf::reacts_to<Stamp, Refuse>>;  // registrar

/// Who hosts actors on a node that has joined a run.
using HostHandle = caf::typed_actor<caf::reacts_to<Stamp, Admit>,      // registrar
                                    caf::reacts_to<Stamp, Refuse>,     // registrar
                                    caf::reacts_to<Stamp, Host>,       // registrar
                                    caf::reacts_to<Stamp, Fetch>,      // registrar
                                    caf::reacts_to<Stamp, Dismiss>,    // registrar
                                    caf::reacts_to<Stamp, Heartbeat>,  // registrar
                                    caf::reacts_to<Stamp, Stop>,       // registrar, or this node's program
                                    caf::reacts_to<Stamp, Failed>,     // its actors
                                    caf::reacts_to<Stamp, Stopped>,    // its actors
                                    caf::reacts_to<Stamp, Assembled>,  // its own thread
                                    caf::reacts_to<Stamp, Met>,        // postman, exchange
                                    caf::reacts_to<Stamp, Parted>,     // postman, exchange
                                    caf::reacts_to<Stamp, Tick>>;      // itself

}  // namespace thalweg::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::Stamp)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::Batch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::Contribution)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::Parameters)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Hello)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Roster)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Lease)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::WantBatch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::StepDone)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::FoldDone)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Tick)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Committed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Evaluate)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Evaluation)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Stop)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Stopped)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Finished)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Failed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Closing)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::RoundClosed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::DataSpent)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Left)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Departed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Checkpoint)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Best)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::CheckpointDone)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Progress)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Pull)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Slowest)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Served)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Fenced)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Drained)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Joined)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Arrived)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::AddWorker)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Apply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Admit)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Refuse)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Ready)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Host)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Hosted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Dismiss)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Heartbeat)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Leave)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Met)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Parted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Assembled)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Fetch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Holding)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Inquire)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Report)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::actors::Paused)
