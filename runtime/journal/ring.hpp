#pragma once

#include "runtime/journal/record.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

/// Records of one thread on their way to the journal's writer: a bounded queue of one producer and one
/// consumer, without locks (Lamport, "Specifying concurrent program modules", 1983).
namespace thalweg::journal {

class Ring {
 public:
  static constexpr std::size_t capacity = 4096;

  /// The producer's. False: it is full, and the record is counted as lost.
  bool push(const Record& record) noexcept {
    const auto tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_seen_ == capacity) {
      head_seen_ = head_.load(std::memory_order_acquire);
      if (tail - head_seen_ == capacity) {
        lost_.fetch_add(1, std::memory_order_relaxed);
        return false;
      }
    }
    slots_[tail % capacity] = record;
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }
  /// The producer's: how many wait, at most.
  [[nodiscard]] std::size_t waiting() const noexcept {
    return static_cast<std::size_t>(tail_.load(std::memory_order_relaxed) -
                                    head_.load(std::memory_order_relaxed));
  }

  /// The consumer's: hands everything that is there to `take`, in order.
  template <class Take>
  std::size_t drain(const Take& take) {
    const auto head = head_.load(std::memory_order_relaxed);
    const auto tail = tail_.load(std::memory_order_acquire);
    for (auto at = head; at != tail; ++at) take(slots_[at % capacity]);
    head_.store(tail, std::memory_order_release);
    return static_cast<std::size_t>(tail - head);
  }
  /// How many were lost since the last call.
  std::uint64_t take_lost() noexcept { return lost_.exchange(0, std::memory_order_relaxed); }

 private:
  std::unique_ptr<Record[]> slots_ = std::make_unique<Record[]>(capacity);
  alignas(128) std::atomic<std::uint64_t> head_{0};  // apart, since two threads write them
  alignas(128) std::atomic<std::uint64_t> tail_{0};
  std::uint64_t head_seen_ = 0;  ///< the producer's
  std::atomic<std::uint64_t> lost_{0};
};

}  // namespace thalweg::journal
