#include "tools/bench/chain.hpp"

#include "actors/role.hpp"

#include <semaphore>
#include <thread>

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

using LinkHandle = caf::typed_actor<caf::reacts_to<Stamp, Up>, caf::reacts_to<Stamp, Down>>;

/// What the links know of each other; not changed while a message is under way.
struct Links {
  LinkHandle worker, leader, root;
};

LinkHandle::behavior_type leader_link(LinkHandle::pointer self, const Links* links) {
  return {[self, links](const Stamp& stamp, const Up& up) { self->send(links->root, stamp, up); },
          [self, links](const Stamp& stamp, const Down& down) { self->send(links->worker, stamp, down); }};
}

LinkHandle::behavior_type root_link(LinkHandle::pointer self, const Links* links) {
  return {[self, links](const Stamp& stamp, const Up& up) { self->send(links->leader, stamp, Down{up.payload}); },
          [](const Stamp&, const Down&) {}};
}

LinkHandle::behavior_type worker_link(LinkHandle::pointer self, const Links* links, std::function<void()> back) {
  return {[self, links](const Stamp& stamp, const Up& up) { self->send(links->leader, stamp, up); },
          [back = std::move(back)](const Stamp&, const Down&) { back(); }};
}

}  // namespace

struct Chain::State {
  State(gpu::Device& device, const Clock& of, Payload carried, std::chrono::microseconds computing)
      : clock(of),
        payload(std::move(carried)),
        compute(computing),
        stream(device.open_stream("chain")),
        context(actors::make_node_context(of)),
        system(std::make_unique<caf::actor_system>(*context)) {
    links.worker = system->spawn(worker_link, &links, [this] { back(); });
    links.leader = system->spawn(leader_link, &links);
    links.root = system->spawn(root_link, &links);
  }
  ~State() {
    for (auto* link : {&links.worker, &links.leader, &links.root}) {
      caf::anon_send_exit(*link, caf::exit_reason::user_shutdown);
      *link = LinkHandle();
    }
    system->await_all_actors_done();
  }

  /// The stream's part: on its thread.
  void go() {
    stream->submit(
        [this](gpu::Stream&) -> Status {
          std::this_thread::sleep_for(compute);
          began = clock.now();
          return {};
        },
        [this](const Status&) { caf::anon_send(links.worker, Stamp{}, Up{payload}); });
  }

  /// The worker's.
  void back() {
    took.push_back(seconds(clock.now() - began));
    if (took.size() == times) return over.release();
    go();
  }

  const Clock& clock;
  const Payload payload;
  const std::chrono::microseconds compute;
  std::chrono::nanoseconds began{};
  std::vector<double> took;
  std::size_t times = 0;
  std::binary_semaphore over{0};
  std::unique_ptr<gpu::Stream> stream;
  Links links;
  std::unique_ptr<actors::NodeContext> context;
  std::unique_ptr<caf::actor_system> system;
};

Chain::Chain(gpu::Device& device, const Clock& clock, Payload payload, std::chrono::microseconds compute)
    : state_(std::make_unique<State>(device, clock, std::move(payload), compute)) {}
Chain::~Chain() = default;

std::vector<double> Chain::run(std::size_t times) {
  state_->took.clear();
  state_->times = times;
  state_->go();
  state_->over.acquire();
  return state_->took;
}

}  // namespace thalweg::bench
