#include "tests/support/scripted_cluster.hpp"

#include "actors/supervisor.hpp"
#include "runtime/time/manual_clock.hpp"
#include "runtime/time/random.hpp"

#include <caf/actor_system.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace thalweg::testing {

namespace {

class Listener final : public actors::MessageSink {
 public:
  explicit Listener(ScriptedResult& result) : result_(result) {}

  void handled(const Handled& record) noexcept override {
    result_.messages.push_back(std::string(record.name) + " < " + kind_name(record.stamp.kind));
  }
  void decided(const Decided& record) noexcept override {
    result_.decisions.push_back(std::string(record.name) + ": " + record.reason.text());
  }

 private:
  ScriptedResult& result_;
};

/// Names of the actors below an aggregator, in the order in which they are spawned.
void name_owners(const TreeSpec& tree, std::vector<std::string>& names) {
  const auto count = [&](char kind) {
    return std::to_string(std::ranges::count_if(names, [&](const auto& name) { return name[0] == kind; }));
  };
  for (std::size_t i = 0; i < tree.workers; ++i) names.push_back("w" + count('w'));
  for (const auto& child : tree.children) {
    names.push_back("g" + count('g'));
    name_owners(child, names);
  }
}

/// Runs actors one at a time until none has anything to do and no step is under way; a seed decides which is
/// next.
void run_until_quiet(caf::scheduler::test_coordinator& coordinator, std::uint64_t shuffle,
                     TimedDevice* timed) {
  Random random(shuffle);
  constexpr int timeouts_max =
      10'000;  // a run that only looks again and again for a buffer stands still, too
  for (int timeouts = 0; timeouts < timeouts_max; ++timeouts) {
    while (coordinator.has_job()) {
      if (shuffle != 0)
        std::swap(coordinator.jobs.front(), coordinator.jobs[random.below(coordinator.jobs.size())]);
      coordinator.run_once();
    }
    if (timed != nullptr && timed->happen()) {
      --timeouts;
      continue;
    }
    if (!coordinator.has_pending_timeout()) return;
    coordinator.trigger_timeout();
  }
}

}  // namespace

Result<ScriptedResult> run_scripted(const ScriptedOptions& options) {
  ScriptedResult result;
  Listener listener(result);
  ManualClock clock(1'000'000);
  actors::NodeContext context(clock, &listener);
  context.set("scheduler.policy", caf::atom("testing"));
  context.set("logger.verbosity", caf::atom("quiet"));

  std::unique_ptr<gpu::Device> device;
  TimedDevice* timed = nullptr;
  if (options.step_time) {
    auto made = std::make_unique<TimedDevice>(options.step_time, clock);
    timed = made.get();
    device = std::move(made);
  } else {
    device = gpu::open_host_device({gpu::HostOptions::Ops::best, true});
  }
  auto assembly = actors::assemble(options.config, options.data,
                                   {device.get(), nullptr, options.model, options.start, {}});
  if (!assembly) return assembly.error();

  bool ended = false;
  actors::ReporterState::Options reporter;
  reporter.summary.workers = options.config.topology.workers;
  reporter.samples_per_epoch = assembly->sampling->samples_used_per_epoch();
  reporter.start_samples = assembly->start_samples;
  reporter.start_version = Version{assembly->first.value};
  reporter.on_event = [&](const RunEvent& event) { result.events.push_back(event); };
  reporter.on_outcome = [&](actors::Outcome outcome) {
    result.outcome = std::move(outcome);
    ended = true;
  };

  // Pools are asked for in the order in which actors are spawned: root, then in tree order.
  std::vector<std::shared_ptr<gpu::BufferPool>> pools;
  assembly->make_pool = [&pools, make = assembly->make_pool](std::size_t limit) {
    return pools.emplace_back(make(limit));
  };
  std::vector<std::string> owners{"root"};
  name_owners(assembly->tree, owners);

  caf::actor_system system(context);
  auto& coordinator = dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler());
  {
    const auto supervisor = actors::spawn_role<actors::SupervisorHandle, actors::SupervisorState>(
        system, {std::move(*assembly), std::move(reporter), std::nullopt, {}, false});
    run_until_quiet(coordinator, options.shuffle, timed);
  }
  for (std::size_t i = 0; i < pools.size(); ++i) result.pools[owners[i]] = pools[i]->counters();
  if (!ended) {
    system.await_actors_before_shutdown(false);  // they would never end
    return Error{ErrorCode::failed, "the run stands still before its end"};
  }
  return result;
}

}  // namespace thalweg::testing
