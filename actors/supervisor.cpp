#include "actors/supervisor.hpp"

#include "actors/evaluator.hpp"
#include "actors/scheduler.hpp"

#include <algorithm>
#include <utility>

namespace thalweg::actors {

SupervisorHandle::behavior_type SupervisorState::start(Options options) {
  options_ = std::move(options);
  self_->name_is("supervisor");
  self_->set_down_handler([this](const caf::down_msg& down) { gone(down); });
  try {
    spawn_everything();
  } catch (const std::exception& error) {
    // Half a run would never end: whoever waits for it would wait for ever.
    THALWEG_CHECK(false, error.what());
  }
  return {
      [this](const Stamp&, const Finished& finished) {
        closing_.snapshot = finished.snapshot;
        if (closing_.end.empty()) {
          closing_.end = finished.by == EndedBy::stop ? "stopped" : "done";
          closing_.by = finished.by;
        }
        stop_everybody();
      },
      [this](const Stamp&, const Failed& message) { failed(message); },
      [this](const Stamp&, const Stopped& last_words) { stopped(last_words); },
      [this](const Stamp&, const AddWorker& request) { add_worker(request.parent); },
      [this](const Stamp&, const Joined& joined) { self_->tell(scheduler_, joined); },
      [this](const Stamp&, const Left& left) {
        if (!stopping_) self_->tell(scheduler_, left);
      },
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
  const auto& config = assembly.config;
  scheduler_ = spawn_role<SchedulerHandle, SchedulerState>(
      system, {std::move(*assembly.allotment), assembly.method, assembly.balance, first, config.guard.strikes,
               config.sync.min_workers, options_.remote.has_value(), config.batch_of(0), here, reporter_});
  watch("scheduler", scheduler_);
  if (options_.keeper) {
    auto keeper = std::move(*options_.keeper);
    keeper.reporter = reporter_;
    keeper.supervisor = here;
    keeper_ = options_.detach_reporter
                  ? spawn_role<KeeperHandle, KeeperState, caf::detached>(system, std::move(keeper))
                  : spawn_role<KeeperHandle, KeeperState>(system, std::move(keeper));
    watch("keeper", keeper_);
  }
  evaluator_ = spawn_role<EvaluatorHandle, EvaluatorState>(
      system, {config.eval.on == "train" ? assembly.data.train : assembly.data.test,
               std::move(assembly.evaluator.stream), std::move(assembly.evaluator.model), here});
  watch("evaluator", evaluator_);
  feeder_ = spawning().feeder(first);
  watch("feeder", feeder_);

  Root::Options root;
  root.model = std::move(assembly.model);
  root.merge = assembly.method.merge;
  root.mean_batch = static_cast<double>(config.global_batch()) / static_cast<double>(config.topology.workers);
  root.hands_out_moves = assembly.method.adopt.kind == rules::AdoptRule::Kind::eager;
  root.evaluate_every = config.eval.every * assembly.sampling->samples_used_per_epoch();
  root.checkpoint_every = config.checkpoint.every;
  root.keep_best = config.checkpoint.best;
  root.best_accuracy = assembly.best_accuracy;
  root.target_accuracy = config.stop.target_accuracy;
  root.empty_rounds_max = config.guard.strikes;
  root.scheduler = scheduler_;
  root.evaluator = evaluator_;
  root.reporter = reporter_;
  root.keeper = keeper_;
  root.supervisor = here;
  root_ = spawn_aggregator(root_id(), 0, {}, "", std::move(root));
  if (options_.remote) options_.remote->directory->register_actor(scheduler_at(), scheduler_);
  Hello hello{{{root_id(), root_, {}}}, {{feeder_, {}}}};
  spawn_members(assembly.tree, 0, root_, hello, 0);
  if (options_.remote) watch("registrar", options_.remote->registrar);
  self_->tell(scheduler_, std::move(hello));
  if (const auto limit = config.stop.max_time; limit.count() > 0) {
    self_->tell_later(here, limit, Stop{Stop::When::after_round, EndedBy::max_time});
  }
}

Spawning SupervisorState::spawning() {
  return {self_->system(), options_.assembly, SupervisorHandle(self_), scheduler_};
}

AggregatorHandle SupervisorState::spawn_aggregator(MemberId id, std::size_t level,
                                                   const AggregatorHandle& parent,
                                                   const std::string& parent_name,
                                                   std::optional<Root::Options> root) {
  const auto handle = spawning().aggregator(id, level, parent, parent_name, std::move(root));
  watch(id.text(), handle);
  aggregators_[id] = handle;
  if (options_.remote) options_.remote->directory->register_actor(address_of(id), handle);
  return handle;
}

void SupervisorState::spawn_members(const TreeSpec& tree, std::size_t level, const AggregatorHandle& parent,
                                    Hello& hello, std::size_t parent_index) {
  auto& assembly = options_.assembly;
  const auto parent_name = hello.aggregators[parent_index].id.text();
  for (std::size_t i = 0; i < tree.workers; ++i) {
    const auto number = next_worker_++;
    auto& roster = hello.aggregators[parent_index].roster;
    if (const auto node = elsewhere(worker_id(number))) {
      roster.added.push_back({worker_id(number), options_.remote->member(worker_id(number))});
      feeder_of(*node, hello).workers.push_back(number);
      continue;
    }
    THALWEG_CHECK(number < assembly.workers.size(),
                  "a stream and a model are made for every worker of the tree");
    const auto worker =
        spawn_worker(number, hello.aggregators[parent_index].id, std::move(assembly.workers[number]));
    roster.added.push_back({worker_id(number), worker});
    hello.feeders.front().workers.push_back(number);
  }
  for (const auto& child : tree.children) {
    const auto id = leader_id(next_leader_++);
    const auto leader = elsewhere(id) ? options_.remote->leader(id)
                                      : spawn_aggregator(id, level + 1, parent, parent_name, {});
    hello.aggregators[parent_index].roster.added.push_back({id, leader});
    hello.aggregators.push_back({id, leader, {}});
    spawn_members(child, level + 1, leader, hello, hello.aggregators.size() - 1);
  }
}

std::optional<NodeNumber> SupervisorState::elsewhere(MemberId member) const {
  if (!options_.remote) return std::nullopt;
  const auto seat = options_.remote->placement.find(member);
  if (!seat || seat->node == self_->context().node) return std::nullopt;
  return seat->node;
}

/// One for each node, in the order in which the tree meets them.
Hello::Feeder& SupervisorState::feeder_of(NodeNumber node, Hello& hello) {
  const auto [found, fresh] = feeders_.try_emplace(node, hello.feeders.size());
  if (fresh) hello.feeders.push_back({options_.remote->feeder(node), {}});
  return hello.feeders[found->second];
}

WorkerHandle SupervisorState::spawn_worker(std::uint32_t number, MemberId parent, Compute compute) {
  const auto worker =
      spawning().worker(number, aggregators_.at(parent), parent.text(), feeder_, std::move(compute));
  watch(worker_id(number).text(), worker, worker_id(number));
  if (options_.remote) options_.remote->directory->register_actor(address_of(worker_id(number)), worker);
  return worker;
}

/// While the run goes on.
void SupervisorState::add_worker(MemberId parent) {
  if (stopping_ || !aggregators_.contains(parent)) return;
  const auto number = next_worker_++;
  auto compute = options_.assembly.make_worker(number);
  if (!compute) {
    const auto left = std::count_if(watched_.begin(), watched_.end(),
                                    [](const Watched& each) { return each.worker && each.running; });
    return self_->tell(reporter_,
                       Departed{worker_id(number), compute.error().text, static_cast<std::size_t>(left)});
  }
  const auto worker = spawn_worker(number, parent, std::move(*compute));
  self_->tell(scheduler_, Joined{{worker_id(number), worker}, parent, feeder_});
}

template <class Handle>
void SupervisorState::watch(const std::string& name, const Handle& handle, std::optional<MemberId> worker) {
  self_->monitor(handle);
  watched_.push_back({name, handle->address(), [this, handle] { self_->tell(handle, Stop{Stop::When::now}); },
                      worker, true, false});
}

// -- the end
// ---------------------------------------------------------------------------------------------------

/// A worker's death is not the run's: every method goes on with the rest.
void SupervisorState::failed(const Failed& message) {
  if (message.worker && !stopping_) {
    self_->tell(scheduler_, Left{*message.worker, message.why});
  } else {
    fail(message.diverged ? "diverged" : "failed", message.who + ": " + message.why);
  }
}

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
  for (auto& each : watched_) {
    if (each.name == last_words.who) each.said_goodbye = true;
  }
  if (!last_words.level) return;
  const auto level = *last_words.level;
  const auto levels = std::max(closing_.bytes_up.size(), level + 1);
  closing_.bytes_up.resize(levels);
  closing_.bytes_down.resize(levels);
  closing_.bytes_up[level] += last_words.bytes_up;
  closing_.bytes_down[level] += last_words.bytes_down;
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
    if (stopping_ || each.said_goodbye) continue;
    failed({each.name, "its actor ended: " + self_->system().render(down.reason), false, each.worker});
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
