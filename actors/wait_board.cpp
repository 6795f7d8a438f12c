#include "actors/wait_board.hpp"

#include <algorithm>
#include <utility>

namespace thalweg::actors {

void WaitBoard::waits(const Waits& record) noexcept {
  if (next_ != nullptr) next_->waits(record);
  try {
    const std::lock_guard lock(mutex_);
    auto [entry, fresh] = waits_.try_emplace(record.actor);
    // Looked at again, with the same answer, a wait goes on.
    if (!fresh && entry->second.for_whom == record.for_whom) {
      entry->second.until = record.until;
      return;
    }
    entry->second = {std::string(record.name), std::string(record.for_whom), record.until, clock_.now()};
  } catch (const std::bad_alloc&) {  // then nobody is told of this one
  }
}

void WaitBoard::goes_on(ActorNumber actor, std::string_view name) noexcept {
  if (next_ != nullptr) next_->goes_on(actor, name);
  const std::lock_guard lock(mutex_);
  waits_.erase(actor);
}

void WaitBoard::forget(std::string_view name) {
  const std::lock_guard lock(mutex_);
  std::erase_if(waits_, [name](const auto& each) { return each.second.name == name; });
}

std::vector<Wait> WaitBoard::now() const {
  const auto now = clock_.now();
  std::vector<Wait> waits;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [actor, entry] : waits_) {
      const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now - entry.since).count();
      waits.push_back({entry.name, entry.for_whom, entry.until.text(), static_cast<std::uint64_t>(ms)});
    }
  }
  std::stable_sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) { return a.ms > b.ms; });
  return waits;
}

}  // namespace thalweg::actors
