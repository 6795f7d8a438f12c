#include "actors/emulated_links.hpp"

#include "actors/messages.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace thalweg::actors {

namespace {

/// What stands around a vector: stamp, ranges, score.
constexpr std::size_t header_bytes = 256;

bool is_beside_root(std::string_view name) {
  constexpr std::array<std::string_view, 5> names{"root", "scheduler", "evaluator", "keeper", "reporter"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Contributions and parameters are vectors also when they carry none: they must not pass by one another.
bool is_vector(const Courier::Parcel& parcel) {
  return parcel.stamp.kind == MessageKind::contribution || parcel.stamp.kind == MessageKind::parameters;
}

std::size_t bytes_of(const Courier::Parcel& parcel) {
  const Payload* payload = nullptr;
  if (parcel.stamp.kind == MessageKind::contribution) {
    payload = &static_cast<const Contribution*>(parcel.body)->payload;
  } else if (parcel.stamp.kind == MessageKind::parameters) {
    payload = &static_cast<const Parameters*>(parcel.body)->payload;
  }
  return header_bytes + (payload != nullptr && *payload ? (*payload)->bytes() : 0);
}

}  // namespace

LinkOptions link_options(const Config& config) {
  const std::chrono::duration<double, std::milli> delay(config.emulate.delay_ms);
  return {std::chrono::ceil<std::chrono::nanoseconds>(delay), config.emulate.rate_mbit * 1e6 / 8};
}

std::chrono::nanoseconds LinkWay::vector_arrives(std::chrono::nanoseconds now, std::size_t bytes) {
  std::chrono::nanoseconds on_link{};
  if (options_.bytes_per_s > 0) {
    // A day bounds what a job file can ask for, and keeps sums of it within nanoseconds.
    constexpr double longest_s = 24.0 * 3600;
    const std::chrono::duration<double> time(
        std::min(static_cast<double>(bytes) / options_.bytes_per_s, longest_s));
    on_link = std::chrono::ceil<std::chrono::nanoseconds>(time);
  }
  free_ = std::max(free_, now) + on_link;
  return free_ + options_.delay;
}

EmulatedLinks::EmulatedLinks(const Clock& clock, LinkOptions options)
    : clock_(clock), options_(options), thread_([this] { deliver_what_is_due(); }) {}

EmulatedLinks::~EmulatedLinks() { close(); }

void EmulatedLinks::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  // Only now, and past the lock: letting go of an actor may end it, and it may send its last words.
  std::priority_queue<Due, std::vector<Due>, Later> dropped;
  const std::lock_guard lock(mutex_);
  std::swap(dropped, queue_);
}

void EmulatedLinks::named(caf::actor_id actor, std::string_view name) {
  if (!is_beside_root(name)) return;
  const std::lock_guard lock(mutex_);
  beside_root_.insert(actor);
}

/// Who stands where. An actor may be written to before it has begun and named itself.
void EmulatedLinks::learn(const void* body) {
  const auto& hello = *static_cast<const Hello*>(body);
  if (hello.aggregators.empty()) return;
  const auto& root = hello.aggregators.front();
  beside_root_.insert(root.handle.id());
  for (const auto& member : root.roster.added) {
    const auto [link, fresh] =
        links_.try_emplace(member.id.text(), Link{LinkWay(options_), LinkWay(options_)});
    members_[member.handle.id()] = &link->second;
  }
}

/// Null: not over a link.
LinkWay* EmulatedLinks::way_of(const Parcel& parcel) {
  if (is_beside_root(parcel.from)) {
    const auto member = members_.find(parcel.to);
    return member == members_.end() ? nullptr : &member->second->down;
  }
  if (!beside_root_.contains(parcel.to)) return nullptr;
  const auto link = links_.find(parcel.from);
  return link == links_.end() ? nullptr : &link->second.up;
}

void EmulatedLinks::carry(Parcel parcel) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    if (parcel.stamp.kind == MessageKind::hello) learn(parcel.body);
    LinkWay* const way = way_of(parcel);
    if (parcel.delay.count() > 0) {
      const auto begins = clock_.now() + parcel.delay;
      if (way == nullptr) return put(begins, std::move(parcel.deliver));
      return put(begins, [this, way, vector = is_vector(parcel), bytes = bytes_of(parcel),
                          deliver = std::move(parcel.deliver)]() mutable {
        const std::lock_guard again(mutex_);
        send(*way, vector, bytes, std::move(deliver));
      });
    }
    if (way != nullptr) return send(*way, is_vector(parcel), bytes_of(parcel), std::move(parcel.deliver));
  }
  parcel.deliver();
}

/// Requires: the lock is held.
void EmulatedLinks::send(LinkWay& way, bool vector, std::size_t bytes, std::function<void()> deliver) {
  const auto now = clock_.now();
  put(vector ? way.vector_arrives(now, bytes) : way.small_arrives(now), std::move(deliver));
}

/// Requires: the lock is held.
void EmulatedLinks::put(Time when, std::function<void()> run) {
  if (closed_) return;
  queue_.push({when, ++queued_, std::move(run)});
  changed_.notify_all();
}

void EmulatedLinks::deliver_what_is_due() {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    if (queue_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto left = queue_.top().when - clock_.now();
    if (left.count() > 0) {
      changed_.wait_for(lock, left);
      continue;
    }
    auto run = queue_.top().run;
    queue_.pop();
    lock.unlock();
    run();
    run = nullptr;  // past the lock: it may be the last to hold an actor
    lock.lock();
  }
}

}  // namespace thalweg::actors
