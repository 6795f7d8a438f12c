#include "tools/bench/hops.hpp"

#include "actors/role.hpp"

#include <array>
#include <semaphore>

namespace thalweg::bench {
namespace {

using actors::Tick;
using PlayerHandle = caf::typed_actor<caf::reacts_to<Stamp, Tick>>;

/// Where the message is thrown. One player at a time has the message, and with it the right to read this.
struct Table {
  std::array<PlayerHandle, 2> players;
  std::size_t left = 0;  ///< hops until the game is over
  std::binary_semaphore over{0};
};

class PlayerState {
 public:
  struct Options {
    Table* table = nullptr;
    std::size_t other = 0;
  };
  explicit PlayerState(actors::RoleBase<PlayerHandle>* self) : self_(self) {}
  PlayerHandle::behavior_type start(Options options) {
    return {[this, options](const Stamp&, const Tick&) {
      if (--options.table->left == 0) return options.table->over.release();
      self_->tell(options.table->players[options.other], Tick{});
    }};
  }

 private:
  actors::RoleBase<PlayerHandle>* self_;
};

PlayerHandle::behavior_type bare_player(PlayerHandle::pointer self, Table* table, std::size_t other) {
  return {[self, table, other](const Stamp& stamp, const Tick&) {
    if (--table->left == 0) return table->over.release();
    self->send(table->players[other], stamp, Tick{});
  }};
}

class CountingSink final : public actors::MessageSink {
 public:
  void handled(const Handled&) noexcept override { ++handled_; }
  void decided(const Decided&) noexcept override {}

 private:
  std::size_t handled_ = 0;  // the scheduler has one thread
};

}  // namespace

struct Hops::State {
  State(HopKind kind, const Clock& clock)
      : context(actors::make_node_context(clock, kind == HopKind::recorded ? &sink : nullptr)) {
    context->set("scheduler.max-threads", 1u);
    system = std::make_unique<caf::actor_system>(*context);
    for (std::size_t i = 0; i < table.players.size(); ++i) {
      table.players[i] = kind == HopKind::bare
                             ? system->spawn(bare_player, &table, 1 - i)
                             : actors::spawn_role<PlayerHandle, PlayerState>(*system, {&table, 1 - i});
    }
  }
  ~State() {
    for (auto& player : table.players) {
      caf::anon_send_exit(player, caf::exit_reason::user_shutdown);
      player = PlayerHandle();
    }
    system->await_all_actors_done();
  }

  CountingSink sink;
  Table table;
  std::unique_ptr<actors::NodeContext> context;
  std::unique_ptr<caf::actor_system> system;
};

Hops::Hops(HopKind kind, const Clock& clock) : state_(std::make_unique<State>(kind, clock)) {}
Hops::~Hops() = default;

void Hops::run(std::size_t count) {
  state_->table.left = count;
  Stamp stamp;
  stamp.kind = MessageKind::tick;
  caf::anon_send(state_->table.players[0], stamp, Tick{});
  state_->table.over.acquire();
}

}  // namespace thalweg::bench
