#include "actors/node_context.hpp"

#include <caf/atom.hpp>

namespace thalweg::actors {

std::unique_ptr<NodeContext> make_node_context(const Clock& clock, MessageSink* sink) {
  auto context = std::make_unique<NodeContext>(clock, sink);
  // Work stealing burns 15 % of a core while idle, sharing next to nothing; no actor computes, so two threads
  // do.
  context->set("scheduler.policy", caf::atom("sharing"));
  context->set("scheduler.max-threads", 2u);
  context->set("logger.verbosity", caf::atom("quiet"));
  return context;
}

}  // namespace thalweg::actors
