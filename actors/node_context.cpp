#include "actors/node_context.hpp"

#include <caf/atom.hpp>

#include <algorithm>
#include <thread>

namespace thalweg::actors {

namespace {

/// Threads for the actors. None of them computes, and a thread too many costs: on 2 cores with 4 computing
/// workers the turn of a round took 370 us with two threads and 236 us with one, where the second only took
/// a core from a worker. More than a few pays only when many leaders fold at the same time.
std::size_t scheduler_threads() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 1, 4);
}

}  // namespace

std::unique_ptr<NodeContext> make_node_context(const Clock& clock, MessageSink* sink, Courier* courier) {
  auto context = std::make_unique<NodeContext>(clock, sink, courier);
  // Work stealing burns 15 % of a core while idle, sharing next to nothing.
  context->set("scheduler.policy", caf::atom("sharing"));
  context->set("scheduler.max-threads", scheduler_threads());
  context->set("logger.verbosity", caf::atom("quiet"));
  return context;
}

}  // namespace thalweg::actors
