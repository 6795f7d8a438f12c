#include "actors/wait_board.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

namespace thalweg::actors {

void WaitBoard::waits(const Waits& record) noexcept {
  try {
    std::optional<Entry> before;
    {
      auto& shard = shard_of(record.actor);
      const std::lock_guard lock(shard.mutex);
      const auto [found, fresh] = shard.waits.try_emplace(record.actor);
      auto& entry = found->second;
      // Looked at again, with the same answer, a wait goes on.
      if (!fresh && entry.for_whom == record.for_whom) {
        entry.until = record.until;
        return;
      }
      if (!fresh) before = std::move(entry);
      entry = {record.actor, std::string(record.name), std::string(record.for_whom), record.until,
               clock_.now()};
    }
    if (before) over(*before);
  } catch (const std::bad_alloc&) {  // then nobody is told of this one
  }
}

void WaitBoard::goes_on(ActorNumber actor, std::string_view /*name*/) noexcept {
  std::map<ActorNumber, Entry>::node_type ended;
  {
    auto& shard = shard_of(actor);
    const std::lock_guard lock(shard.mutex);
    ended = shard.waits.extract(actor);
  }
  if (!ended.empty()) over(ended.mapped());
}

void WaitBoard::over(const Entry& entry) noexcept {
  if (next_ == nullptr) return;
  next_->waited(
      {entry.actor, entry.name, entry.for_whom, entry.until, entry.since, clock_.now() - entry.since});
}

void WaitBoard::forget(std::string_view name) {
  for (auto& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    std::erase_if(shard.waits, [name](const auto& each) { return each.second.name == name; });
  }
}

std::vector<WaitBoard::Entry> WaitBoard::entries() const {
  std::vector<Entry> all;
  for (const auto& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    for (const auto& [actor, entry] : shard.waits) all.push_back(entry);
  }
  std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.since < b.since; });
  return all;
}

std::vector<Wait> WaitBoard::now() const {
  const auto now = clock_.now();
  std::vector<Wait> waits;
  for (const auto& entry : entries()) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now - entry.since).count();
    waits.push_back({entry.name, entry.for_whom, entry.until.text(), static_cast<std::uint64_t>(ms)});
  }
  return waits;
}

}  // namespace thalweg::actors
