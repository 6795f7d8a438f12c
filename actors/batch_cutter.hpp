#pragma once

#include "models/dataset.hpp"
#include "runtime/values/batch.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace thalweg::actors {

/// Turns positions of an epoch into samples: the feeder's work on the task pool. Thread-safe. Memory of
/// batches comes back when a worker is done with them and is used again, so a steady state allocates nothing.
class BatchCutter {
 public:
  BatchCutter(std::shared_ptr<const models::Dataset> data, std::uint64_t seed);

  /// The samples at the positions of `range` in the permutation of its epoch; null when it is empty.
  std::shared_ptr<const BatchData> cut(const IndexRange& range);

 private:
  using Order = std::vector<std::uint32_t>;
  struct Shelf;  ///< batches not in use

  std::shared_ptr<const Order> order_of(std::uint64_t epoch);

  std::shared_ptr<const models::Dataset> data_;
  std::uint64_t seed_;
  std::shared_ptr<Shelf> shelf_;
  std::mutex orders_mutex_;
  std::vector<std::pair<std::uint64_t, std::shared_ptr<const Order>>> orders_;  ///< the two newest epochs
};

}  // namespace thalweg::actors
