#include "tests/sim/simulation.hpp"

#include "actors/rules/placement.hpp"
#include "actors/supervisor.hpp"
#include "runtime/check.hpp"
#include "runtime/time/random.hpp"
#include "tests/sim/troubled_model.hpp"
#include "tests/sim/virtual_device.hpp"

#include <caf/actor_system.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace thalweg::sim {

namespace {

using caf::scheduler::test_coordinator;

constexpr std::uint64_t order_stream = 131;

/// Hands on what the actors tell their node.
class Listener final : public actors::MessageSink {
 public:
  explicit Listener(const Audience& audience) : audience_(audience) {}

  void handled(const Handled& record) noexcept override {
    for (auto* looker : audience_) looker->handled(record.name, record.stamp);
  }
  void decided(const Decided& record) noexcept override {
    for (auto* looker : audience_) looker->decided(record.name, record.reason);
  }
  void waits(const Waits& record) noexcept override {
    for (auto* looker : audience_) looker->waits(record.name, record.for_whom, record.until);
  }
  void goes_on(ActorNumber /*actor*/, std::string_view name) noexcept override {
    for (auto* looker : audience_) looker->goes_on(name);
  }

 private:
  const Audience& audience_;
};

/// What no run needs: one that does is not going to end.
struct Bounds {
  Time time{};
  std::uint64_t events = 0;

  Bounds(const Job& job, const rules::LockstepSampling& sampling) {
    // What a worker in trouble did not bring in goes out again, in rounds of its own.
    const auto rounds = (sampling.rounds() + 4) * (job.troubled() ? 6 : 1);
    const auto hops = 4 * (job.config.topology.tree.depth() + 2);
    const auto step = job.compute.step_max * 2 + job.compute.stall_max;
    const auto evaluation = job.compute.evaluation_max * 2 + job.compute.stall_max;
    time = static_cast<Time::rep>(rounds) *
               (step + evaluation + job.links.longest(65536) * static_cast<Time::rep>(hops)) +
           job.config.stop.max_time + std::chrono::seconds(60);
    const auto actors = job.config.topology.workers + job.config.topology.tree.leader_count() + 8;
    events = rounds * actors * 20 + static_cast<std::uint64_t>(time / std::chrono::milliseconds(1));
  }
};

/// Who has workers, in tree order.
std::vector<MemberId> parents_in(const TreeSpec& tree) {
  std::vector<MemberId> parents;
  const rules::Placement placement(tree);
  for (const auto& seat : placement.seats()) {
    const bool known = !parents.empty() && parents.back() == seat.parent;
    if (seat.member.kind == MemberId::Kind::worker && !known) parents.push_back(seat.parent);
  }
  return parents;
}

class Cluster {
 public:
  Cluster(const SimulationOptions& options, const Audience& audience)
      : job_(options.job),
        audience_(audience),
        listener_(audience_),
        wire_(job_.links, job_.seed, time_, audience_, options.bug),
        context_(time_, &listener_, &wire_),
        device_(job_.compute, job_.seed, time_, audience_),
        order_(job_.seed, order_stream) {
    context_.set("scheduler.policy", caf::atom("testing"));
    context_.set("logger.verbosity", caf::atom("quiet"));
  }

  Ending run(const std::optional<actors::Snapshot>& start) {
    auto assembly = actors::assemble(job_.config, testing::make_index_data(job_.samples),
                                     {&device_, nullptr, [this] { return make_model(); }, start});
    THALWEG_CHECK(assembly.ok(), assembly ? "" : assembly.error().text);
    const auto sampling = *assembly->sampling;
    for (auto* looker : audience_) looker->begins(job_, sampling, start ? &*start : nullptr);

    caf::actor_system system(context_);
    auto& coordinator = dynamic_cast<test_coordinator&>(system.scheduler());
    {
      const auto parents = parents_in(assembly->tree);
      const auto supervisor = spawn(system, std::move(*assembly));
      foresee(supervisor, parents);
      go(coordinator, Bounds(job_, sampling));
      if (!ending_.outcome) clear_away(coordinator, supervisor);
    }
    // What still holds an actor would hold it longer than the system lives.
    time_.clear();
    wire_.clear();
    while (coordinator.has_job()) coordinator.run_once();
    ending_.left = ending_.outcome ? system.registry().running() : ending_.left;
    for (auto* looker : audience_) looker->ends(ending_);
    if (system.registry().running() > 0) system.await_actors_before_shutdown(false);  // they would never end
    return std::move(ending_);
  }

 private:
  /// One for each worker, in the order of their numbers, then the evaluator's.
  Result<std::unique_ptr<Model>> make_model() {
    const auto worker = models_++;
    const bool evaluator = worker == job_.config.topology.workers;  // newcomers' follow
    std::vector<Trouble> troubles;
    std::copy_if(job_.troubles.begin(), job_.troubles.end(), std::back_inserter(troubles),
                 [&](const Trouble& trouble) { return !evaluator && trouble.worker == worker; });
    return std::unique_ptr<Model>(
        std::make_unique<TroubledModel>(job_.floats, std::move(troubles), job_.bad_sample));
  }

  /// Puts into the queue what happens from outside.
  void foresee(const actors::SupervisorHandle& supervisor, const std::vector<MemberId>& parents) {
    for (const auto& newcomer : job_.newcomers) {
      const auto parent = parents[newcomer.below % parents.size()];
      time_.at(newcomer.at, 0, [this, &supervisor, parent] {
        if (!ending_.outcome) say(supervisor, actors::AddWorker{parent});
      });
    }
    if (job_.stop_at) {
      time_.at(*job_.stop_at, 0,
               [this, &supervisor] { ask_to_stop(supervisor, actors::Stop::When::after_round); });
    }
    if (job_.cut_at) time_.at(*job_.cut_at, 0, [this] { ending_.lost = !ending_.outcome; });
    for (const auto& trouble : job_.troubles) {
      if (trouble.kind != Trouble::Kind::killed) continue;
      time_.at(trouble.at, 0, [this, worker = worker_id(trouble.worker).text()] { kill(worker); });
    }
    if (job_.leader_killed_at) time_.at(*job_.leader_killed_at, 0, [this] { kill("g0"); });
  }

  void kill(const std::string& who) {
    const auto member = wire_.directory().member_named(who);
    if (!member || ending_.outcome) return;
    for (auto* looker : audience_) looker->dies(who);
    caf::anon_send_exit(member, caf::exit_reason::kill);
  }

  actors::SupervisorHandle spawn(caf::actor_system& system, actors::Assembly assembly) {
    actors::ReporterState::Options reporter;
    reporter.summary.workers = job_.config.topology.workers;
    reporter.samples_per_epoch = job_.samples;
    reporter.on_outcome = [this](actors::Outcome outcome) {
      if (!cleared_) ending_.outcome = std::move(outcome);
    };
    std::optional<actors::KeeperState::Options> keeper;
    if (job_.config.checkpoint.every != 0) {
      keeper.emplace();
      keeper->save = [this](const actors::Snapshot& snapshot) -> Status {
        if (!cleared_) ending_.checkpoint = snapshot;
        return {};
      };
      keeper->save_best = [](const actors::Best&) -> Status { return {}; };
    }
    return actors::spawn_role<actors::SupervisorHandle, actors::SupervisorState>(
        system, {std::move(assembly), std::move(reporter), std::move(keeper), {}, false});
  }

  void ask_to_stop(const actors::SupervisorHandle& supervisor, actors::Stop::When when) {
    say(supervisor, actors::Stop{when});
  }

  template <class Body>
  void say(const actors::SupervisorHandle& supervisor, Body body) {
    const Stamp stamp{MessageId::make({}, ActorNumber{4095}, ++asked_), {}, 0, 1, 0, actors::kind_of<Body>};
    caf::anon_send(supervisor, stamp, std::move(body));
  }

  void go(test_coordinator& coordinator, const Bounds& bounds) {
    for (;;) {
      while (coordinator.has_job()) {
        std::swap(coordinator.jobs.front(), coordinator.jobs[order_.below(coordinator.jobs.size())]);
        coordinator.run_once();
      }
      if (ending_.lost) return;
      if (time_.due()) {
        do {
          ++ending_.events;
          time_.happen();
        } while (time_.due());
        continue;
      }
      if (!ending_.outcome) {
        for (auto* looker : audience_) looker->pauses(time_.now(), time_.empty());
      }
      ending_.at = time_.now();
      if (time_.empty()) return;
      time_.advance();
      if (time_.now() > bounds.time || ending_.events > bounds.events) {
        ending_.cut = "it did not end within " + std::to_string(bounds.time / std::chrono::seconds(1)) +
                      " s of its time and " + std::to_string(bounds.events) + " events";
        return;
      }
    }
  }

  /// Ends what would stay for ever, unseen by the checkers.
  void clear_away(test_coordinator& coordinator, const actors::SupervisorHandle& supervisor) {
    ending_.left = supervisor->home_system().registry().running();
    cleared_ = true;
    for (auto* looker : audience_) looker->ends(ending_);
    audience_.clear();
    ask_to_stop(supervisor, actors::Stop::When::now);
    constexpr int events_max = 1'000'000;
    for (int events = 0; events < events_max; ++events) {
      while (coordinator.has_job()) coordinator.run_once();
      if (time_.empty()) return;
      time_.advance();
      time_.happen();
    }
  }

  Job job_;
  Audience audience_;
  VirtualTime time_;
  Listener listener_;
  Wire wire_;
  actors::NodeContext context_;
  VirtualDevice device_;
  Random order_;
  Ending ending_;
  std::uint32_t models_ = 0;
  bool cleared_ = false;
  std::uint64_t asked_ = 0;
};

}  // namespace

Ending simulate(const SimulationOptions& options, const Audience& audience) {
  return Cluster(options, audience).run(options.start);
}

}  // namespace thalweg::sim
