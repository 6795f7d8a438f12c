#pragma once

#include "actors/node_context.hpp"
#include "runtime/time/clock.hpp"

#include <thalweg/config.hpp>

#include <caf/fwd.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <queue>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

/// Links into the root that are slower than memory: what `emulate.delay_ms` and `emulate.rate_mbit` ask for.
/// Before it the actor that sends, after it the receiver's mailbox. A thread of its own delivers what is due.
namespace thalweg::actors {

struct LinkOptions {
  std::chrono::nanoseconds delay{};  ///< one way
  double bytes_per_s = 0;            ///< each way; 0: no bound
};

/// What [emulate] says of links.
LinkOptions link_options(const Config& config);

/// One way of one link, as two planes. On the first, vectors follow each other at the link's rate; on the
/// other, small messages pass them by and see the delay alone. Each plane keeps its order. Pure.
class LinkWay {
 public:
  explicit LinkWay(LinkOptions options) : options_(options) {}

  /// When `bytes` arrive that are sent at `now`: after those sent before, their own time on the link and its
  /// delay. Requires: `now` never falls.
  std::chrono::nanoseconds vector_arrives(std::chrono::nanoseconds now, std::size_t bytes);
  /// Likewise for a small message.
  [[nodiscard]] std::chrono::nanoseconds small_arrives(std::chrono::nanoseconds now) const {
    return now + options_.delay;
  }

 private:
  LinkOptions options_;
  std::chrono::nanoseconds free_{};  ///< from when on nothing is on the link
};

/// Carries what the root, and the actors beside it (scheduler, evaluator, keeper, reporter), exchange with
/// the root's members over emulated links, one for each member: contributions and parameters as vectors, all
/// else as small messages. Everything else goes straight, and so does what is said to and by the supervisor:
/// it is told of an actor's end past every courier, so the actor's last words must not come later.
class EmulatedLinks final : public Courier {
 public:
  /// Requires: `clock` outlives this.
  EmulatedLinks(const Clock& clock, LinkOptions options);
  ~EmulatedLinks() override;

  void named(caf::actor_id actor, std::string_view name) override;
  void carry(Parcel parcel) override;

  /// Drops what is on its way, and everything that is sent from now on; returns when nothing is delivered any
  /// more. To be called before the actor system ends; more calls do nothing. Not on a delivering thread.
  void close();

 private:
  using Time = std::chrono::nanoseconds;
  struct Due {
    Time when{};
    std::uint64_t number = 0;  ///< equal times: first come, first served
    std::function<void()> run;
  };
  struct Later {
    bool operator()(const Due& one, const Due& other) const {
      return one.when != other.when ? one.when > other.when : one.number > other.number;
    }
  };
  struct Link {
    LinkWay up;
    LinkWay down;
  };

  void learn(const void* hello);
  [[nodiscard]] LinkWay* way_of(const Parcel& parcel);
  void send(LinkWay& way, bool vector, std::size_t bytes, std::function<void()> deliver);
  void put(Time when, std::function<void()> run);
  void deliver_what_is_due();

  const Clock& clock_;
  const LinkOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  std::map<std::string, Link, std::less<>> links_;  ///< by member; nodes of a map stay where they are
  std::map<caf::actor_id, Link*> members_;
  std::set<caf::actor_id> beside_root_;  ///< the root included
  std::priority_queue<Due, std::vector<Due>, Later> queue_;
  std::uint64_t queued_ = 0;
  std::thread thread_;  // last: it uses the others
};

}  // namespace thalweg::actors
