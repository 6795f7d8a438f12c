#include "tools/launch/oversight.hpp"

#include "runtime/check.hpp"
#include "tools/launch/backoff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

namespace thalweg::launch {
namespace {

constexpr int not_understood = 2;
constexpr int signal_base = 128;

/// Whether the process left since somebody asked it to.
bool was_told(Ending how) {
  return how.signal == 0 && (how.code == signal_base + SIGINT || how.code == signal_base + SIGTERM ||
                             how.code == signal_base + SIGHUP);
}

}  // namespace

Oversight::Oversight(OversightOptions options) : options_(std::move(options)) {
  processes_.push_back({"the root"});
  for (const std::string& name : options_.nodes) processes_.push_back({name});
}

Orders Oversight::begin(Time now) {
  Orders orders;
  start(orders, now, 0);
  return orders;
}

Orders Oversight::listens(Time now) {
  Orders orders;
  was_listening_ = true;
  if (phase_ != Phase::starting) return orders;
  phase_ = Phase::running;
  start_nodes(orders, now);
  return orders;
}

Orders Oversight::ended(Time now, Member member, pid_t process, Ending how) {
  Orders orders;
  Process& one = processes_[member];
  THALWEG_CHECK(one.state == State::runs, "a process ends once for each of its starts");
  if (now - one.since >= options_.well_after) one.in_a_row = 0;
  one.state = State::over;
  const std::string who = process == 0 ? one.name : fmt::format("{} (pid {})", one.name, process);
  const std::string what = fmt::format("{} {}", who, how.text());
  if (member == 0) {
    root_ended(orders, now, what, how);
  } else if (phase_ == Phase::starting || phase_ == Phase::running) {
    node_ended(orders, now, member, what, how);
  }
  return orders;
}

void Oversight::root_ended(Orders& orders, Time now, const std::string& what, Ending how) {
  root_end_ = how;
  const bool wanted = phase_ == Phase::stopping || phase_ == Phase::closing;
  // A root that ends by itself has said why, and would do so again.
  const bool goes_on = !wanted && how.signal != 0 && was_listening_;
  if (goes_on && restart(orders, now, 0, what)) {
    phase_ = Phase::starting;
    return;
  }
  if (!wanted && how.signal != 0 && !goes_on) orders.lines.push_back(what + ": the run ends");
  // A root that ends by itself has told the nodes, which then end by themselves too.
  close(orders, now, how.signal == 0 ? options_.node_patience : std::chrono::seconds(0));
}

void Oversight::node_ended(Orders& orders, Time now, Member node, const std::string& what, Ending how) {
  if (how.signal == 0 && how.code == 0) return;  // the run is over, as the root is about to say
  if (was_told(how)) {
    orders.lines.push_back(what + ": it was asked to leave, and is not started again");
  } else if (how.signal == 0 && how.code == not_understood) {
    orders.lines.push_back(fmt::format("{}: it would again: the run ends; see {}", what, options_.logs));
    give_up(orders, now);
  } else if (!restart(orders, now, node, what)) {
    give_up(orders, now);
  }
}

/// Whether it will be; says which.
bool Oversight::restart(Orders& orders, Time now, Member member, const std::string& what) {
  Process& one = processes_[member];
  if (one.restarts >= options_.restarts) {
    const std::string see = member == 0 ? "" : "; see " + options_.logs;
    orders.lines.push_back(
        fmt::format("{}: it was started again {} times: the run ends{}", what, one.restarts, see));
    gave_up_ = true;
    return false;
  }
  ++one.restarts;
  ++one.in_a_row;
  const std::chrono::seconds wait = backoff(one.in_a_row);
  one.state = State::waits;
  one.since = now + wait;
  orders.lines.push_back(fmt::format("{}: starting it again in {} s ({} of {})", what, wait.count(),
                                     one.restarts, options_.restarts));
  return true;
}

void Oversight::give_up(Orders& orders, Time now) {
  gave_up_ = true;
  end_root(orders, now);
}

/// Asks the root to end the run; the nodes follow when it has.
void Oversight::end_root(Orders& orders, Time now) {
  if (root().state == State::runs) {
    phase_ = Phase::stopping;
    deadline_ = now + options_.root_patience;
    orders.signals.emplace_back(0, SIGTERM);
    return;
  }
  close(orders, now, std::chrono::seconds(0));
}

/// The root is over: nothing is started any more, and after `grace` nodes are asked to end.
void Oversight::close(Orders& orders, Time now, std::chrono::seconds grace) {
  phase_ = Phase::closing;
  deadline_ = now + grace;
  for (Process& one : processes_) {
    if (one.state != State::runs) one.state = State::over;
  }
  due(orders, now);
}

Orders Oversight::stop(Time now, int signal) {
  Orders orders;
  if (stop_signal_ != 0) {
    at_once_ = true;
    signal_running(orders, SIGKILL);
    return orders;
  }
  stop_signal_ = signal;
  if (phase_ == Phase::starting || phase_ == Phase::running) end_root(orders, now);
  return orders;
}

Orders Oversight::pass(Time now) {
  Orders orders;
  if (phase_ == Phase::starting || phase_ == Phase::running) {
    if (root().state == State::waits && root().since <= now) start(orders, now, 0);
    if (phase_ == Phase::running) start_nodes(orders, now);
    return orders;
  }
  due(orders, now);
  return orders;
}

/// What is to be done to those that have had their time to end.
void Oversight::due(Orders& orders, Time now) {
  if (!deadline_ || *deadline_ > now) return;
  deadline_.reset();
  if (phase_ == Phase::stopping) {
    orders.lines.push_back(
        fmt::format("the root did not end within {} s and is killed: go on from its last "
                    "checkpoint with --resume",
                    options_.root_patience.count()));
    orders.signals.emplace_back(0, SIGKILL);
    return;
  }
  signal_running(orders, nodes_asked_ ? SIGKILL : SIGTERM);
  if (!nodes_asked_) deadline_ = now + options_.node_patience;
  nodes_asked_ = true;
}

void Oversight::start(Orders& orders, Time now, Member member) {
  processes_[member].state = State::runs;
  processes_[member].since = now;
  orders.starts.push_back(member);
}

/// Those that are due. Requires: the root listens.
void Oversight::start_nodes(Orders& orders, Time now) {
  for (Member node = 1; node < processes_.size(); ++node) {
    const Process& one = processes_[node];
    const bool due = one.state == State::idle || (one.state == State::waits && one.since <= now);
    if (due) start(orders, now, node);
  }
}

void Oversight::signal_running(Orders& orders, int signal) const {
  for (Member member = 0; member < processes_.size(); ++member) {
    if (processes_[member].state == State::runs) orders.signals.emplace_back(member, signal);
  }
}

std::optional<Oversight::Time> Oversight::next() const {
  std::optional<Time> first = deadline_;
  for (const Process& one : processes_) {
    const bool is_root = &one == &processes_.front();
    // Nodes are held back until the root listens, whatever the time.
    if (one.state != State::waits || (!is_root && phase_ != Phase::running)) continue;
    first = std::min(first.value_or(one.since), one.since);
  }
  return first;
}

bool Oversight::done() const {
  return phase_ == Phase::closing &&
         std::ranges::none_of(processes_, [](const Process& one) { return one.state == State::runs; });
}

int Oversight::exit_code() const {
  THALWEG_CHECK(done(), "a run that goes on has no exit code");
  const int root = root_end_.exit_code();
  if (at_once_) return signal_base + stop_signal_;
  if (gave_up_) return 1;
  // It was asked with SIGTERM, whatever the launcher was asked with.
  if (stop_signal_ != 0 && root == signal_base + SIGTERM) return signal_base + stop_signal_;
  return root;
}

}  // namespace thalweg::launch
