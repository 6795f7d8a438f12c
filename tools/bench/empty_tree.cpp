#include "tools/bench/empty_tree.hpp"

#include "actors/role.hpp"
#include "tools/bench/turns.hpp"

#include <atomic>
#include <functional>
#include <optional>
#include <semaphore>
#include <thread>
#include <vector>

namespace thalweg::bench {

/// On its way to the root, and on its way back.
struct Up {
  Payload payload;
};
struct Down {
  Payload payload;
};

}  // namespace thalweg::bench

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::bench::Up)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(thalweg::bench::Down)

namespace thalweg::bench {
namespace {

using NodeHandle = caf::typed_actor<caf::reacts_to<Stamp, Up>, caf::reacts_to<Stamp, Down>>;

/// What the nodes know of each other; not changed while messages are under way.
struct Nodes {
  std::vector<NodeHandle> workers;
  NodeHandle leader, root;
};

NodeHandle::behavior_type worker_node(NodeHandle::pointer self, const Nodes* nodes,
                                      std::function<void()> adopted) {
  return {[self, nodes](const Stamp& stamp, const Up& up) { self->send(nodes->leader, stamp, up); },
          [adopted = std::move(adopted)](const Stamp&, const Down&) { adopted(); }};
}

NodeHandle::behavior_type leader_node(NodeHandle::pointer self, const Nodes* nodes) {
  return {[self, nodes, arrived = std::size_t{0}](const Stamp& stamp, const Up& up) mutable {
            if (++arrived < nodes->workers.size()) return;
            arrived = 0;
            self->send(nodes->root, stamp, up);
          },
          [self, nodes](const Stamp& stamp, const Down& down) {
            for (const NodeHandle& worker : nodes->workers) self->send(worker, stamp, down);
          }};
}

NodeHandle::behavior_type root_node(NodeHandle::pointer self, const Nodes* nodes) {
  return {
      [self, nodes](const Stamp& stamp, const Up& up) { self->send(nodes->leader, stamp, Down{up.payload}); },
      [](const Stamp&, const Down&) {}};
}

}  // namespace

struct EmptyTree::State {
  State(gpu::Device& device, const Clock& of, EmptyTreeOptions with)
      : clock(of), options(std::move(with)), context(actors::make_node_context(of)) {
    for (std::size_t i = 0; i < options.workers; ++i) streams.push_back(device.open_stream("empty"));
    system = std::make_unique<caf::actor_system>(*context);
    nodes.leader = system->spawn(leader_node, &nodes);
    nodes.root = system->spawn(root_node, &nodes);
    for (std::size_t i = 0; i < options.workers; ++i) {
      nodes.workers.push_back(system->spawn(worker_node, &nodes, [this, i] { adopted(i); }));
    }
  }
  ~State() {
    for (const NodeHandle& worker : nodes.workers)
      caf::anon_send_exit(worker, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(nodes.leader, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(nodes.root, caf::exit_reason::user_shutdown);
    nodes = {};
    system->await_all_actors_done();
  }

  /// The stream's part: on its thread.
  void compute(std::size_t worker) {
    streams[worker]->submit(
        [this, worker](gpu::Stream&) -> Status {
          std::this_thread::sleep_for(options.compute + static_cast<int>(worker) * options.later);
          turns->ready[worker].push_back(clock.now());
          return {};
        },
        [this, worker](const Status&) {
          caf::anon_send(nodes.workers[worker], Stamp{}, Up{options.payload});
        });
  }

  /// The worker's: like ours, it has the next step begin before it is done with the message.
  void adopted(std::size_t worker) {
    const bool last = turns->adopted[worker].size() + 1 == rounds;
    if (!last) compute(worker);
    turns->adopted[worker].push_back(clock.now());
    if (last && ++finished == options.workers) over.release();
  }

  const Clock& clock;
  const EmptyTreeOptions options;
  std::optional<Turns> turns;
  std::size_t rounds = 0;
  std::atomic<std::size_t> finished{0};
  std::binary_semaphore over{0};
  std::vector<std::unique_ptr<gpu::Stream>> streams;
  Nodes nodes;
  std::unique_ptr<actors::NodeContext> context;
  std::unique_ptr<caf::actor_system> system;
};

EmptyTree::EmptyTree(gpu::Device& device, const Clock& clock, EmptyTreeOptions options)
    : state_(std::make_unique<State>(device, clock, std::move(options))) {}
EmptyTree::~EmptyTree() = default;

double EmptyTree::run(std::size_t rounds) {
  state_->turns.emplace(state_->options.workers, rounds);
  state_->rounds = rounds;
  state_->finished = 0;
  for (std::size_t i = 0; i < state_->options.workers; ++i) state_->compute(i);
  state_->over.acquire();
  return state_->turns->median_s(rounds);
}

}  // namespace thalweg::bench
