#include "actors/supervisor.hpp"

#include "actors/evaluator.hpp"
#include "actors/feeder.hpp"
#include "actors/scheduler.hpp"
#include "actors/worker.hpp"

#include <algorithm>
#include <utility>

namespace thalweg::actors {

SupervisorHandle::behavior_type SupervisorState::start(Options options) {
  options_ = std::move(options);
  self_->name_is("supervisor");
  self_->set_down_handler([this](const caf::down_msg& down) { gone(down); });
  spawn_everything();
  return {
      [this](const Stamp&, const Finished& finished) {
        closing_.snapshot = finished.snapshot;
        if (closing_.end.empty()) closing_.end = finished.stopped ? "stopped" : "done";
        stop_everybody();
      },
      [this](const Stamp&, const Failed& failed) {
        fail(failed.diverged ? "diverged" : "failed", failed.who + ": " + failed.why);
      },
      [this](const Stamp&, const Stopped& last_words) { stopped(last_words); },
      [this](const Stamp&, const Stop& request) {
        if (!stopping_) self_->tell(root_, request);
      },
  };
}

// -- spawning
// --------------------------------------------------------------------------------------------------

void SupervisorState::spawn_everything() {
  auto& assembly = options_.assembly;
  auto& system = self_->system();
  const SupervisorHandle here(self_);
  const auto first = assembly.first;

  reporter_ =
      options_.detach_reporter
          ? spawn_role<ReporterHandle, ReporterState, caf::detached>(system, std::move(options_.reporter))
          : spawn_role<ReporterHandle, ReporterState>(system, std::move(options_.reporter));
  self_->monitor(reporter_);
  scheduler_ = spawn_role<SchedulerHandle, SchedulerState>(system, {*assembly.sampling, first, here});
  watch("scheduler", scheduler_);
  evaluator_ = spawn_role<EvaluatorHandle, EvaluatorState>(
      system,
      {assembly.data.test, std::move(assembly.evaluator.stream), std::move(assembly.evaluator.model), here});
  watch("evaluator", evaluator_);
  feeder_ = spawn_role<FeederHandle, FeederState>(
      system, {assembly.data.train, assembly.config.run.seed, assembly.workers.size(), first, scheduler_,
               here, assembly.pool});
  watch("feeder", feeder_);

  AggregatorState::Root root{std::move(assembly.model),
                             assembly.config.eval.every * assembly.sampling->rounds_per_epoch(), scheduler_,
                             evaluator_, reporter_};
  root_ = spawn_aggregator(root_id(), 0, {}, std::move(root));
  Hello hello{{{root_id(), root_, {}}}, feeder_};
  spawn_members(assembly.config.topology.tree, 0, root_, hello, 0);
  self_->tell(scheduler_, std::move(hello));
}

AggregatorHandle SupervisorState::spawn_aggregator(MemberId id, std::size_t level,
                                                   const AggregatorHandle& parent,
                                                   std::optional<AggregatorState::Root> root) {
  auto& assembly = options_.assembly;
  auto handle = spawn_role<AggregatorHandle, AggregatorState>(
      self_->system(), {id, level, parent, SupervisorHandle(self_), assembly.make_pool(2), assembly.pool,
                        assembly.method, std::move(root)});
  watch(id.text(), handle);
  return handle;
}

void SupervisorState::spawn_members(const TreeSpec& tree, std::size_t level, const AggregatorHandle& parent,
                                    Hello& hello, std::size_t parent_index) {
  auto& assembly = options_.assembly;
  for (std::size_t i = 0; i < tree.workers; ++i) {
    const auto number = next_worker_++;
    THALWEG_CHECK(number < assembly.workers.size(),
                  "a stream and a model are made for every worker of the tree");
    auto& compute = assembly.workers[number];
    auto worker = spawn_role<WorkerHandle, WorkerState>(
        self_->system(), {number, parent, feeder_, SupervisorHandle(self_), std::move(compute.stream),
                          std::move(compute.model), assembly.make_pool(2), assembly.method});
    watch(worker_id(number).text(), worker);
    hello.aggregators[parent_index].roster.members.push_back({worker_id(number), worker});
  }
  for (const auto& child : tree.children) {
    const auto id = leader_id(next_leader_++);
    auto leader = spawn_aggregator(id, level + 1, parent, {});
    hello.aggregators[parent_index].roster.members.push_back({id, leader});
    hello.aggregators.push_back({id, leader, {}});
    spawn_members(child, level + 1, leader, hello, hello.aggregators.size() - 1);
  }
}

template <class Handle>
void SupervisorState::watch(const std::string& name, const Handle& handle) {
  self_->monitor(handle);
  watched_.push_back(
      {name, handle->address(), [this, handle] { self_->tell(handle, Stop{Stop::When::now}); }, true});
}

// -- the end
// ---------------------------------------------------------------------------------------------------

void SupervisorState::fail(const std::string& end, const std::string& why) {
  if (closing_.end.empty()) {
    closing_.end = end;
    closing_.failure = why;
  }
  stop_everybody();
}

void SupervisorState::stop_everybody() {
  if (std::exchange(stopping_, true)) return;
  for (const auto& each : watched_) {
    if (each.running) each.stop();
  }
  close_if_all_stopped();
}

void SupervisorState::stopped(const Stopped& last_words) {
  closing_.messages += last_words.messages;
  if (last_words.aggregator) {
    const auto levels = std::max(closing_.bytes_up.size(), last_words.level + 1);
    closing_.bytes_up.resize(levels);
    closing_.bytes_down.resize(levels);
    closing_.bytes_up[last_words.level] += last_words.bytes_up;
    closing_.bytes_down[last_words.level] += last_words.bytes_down;
  }
}

void SupervisorState::gone(const caf::down_msg& down) {
  if (down.source == reporter_->address()) {
    // Nobody is left to take the outcome: whoever waits for it sees the promise broken.
    closed_ = true;
    fail("failed", "reporter: its actor ended: " + self_->system().render(down.reason));
  }
  for (auto& each : watched_) {
    if (each.address != down.source) continue;
    each.running = false;
    each.stop = nullptr;
    if (!stopping_) fail("failed", each.name + ": its actor ended: " + self_->system().render(down.reason));
  }
  close_if_all_stopped();
}

void SupervisorState::close_if_all_stopped() {
  if (!stopping_) return;
  for (const auto& each : watched_) {
    if (each.running) return;
  }
  if (std::exchange(closed_, true)) return self_->quit();
  closing_.messages += self_->messages_handled();
  self_->tell(reporter_, std::move(closing_));
  self_->quit();
}

}  // namespace thalweg::actors
