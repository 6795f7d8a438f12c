#include "actors/batch_cutter.hpp"

#include "runtime/check.hpp"
#include "runtime/time/random.hpp"

#include <span>
#include <utility>

namespace thalweg::actors {

struct BatchCutter::Shelf {
  std::mutex mutex;
  std::vector<std::unique_ptr<BatchData>> free;

  std::unique_ptr<BatchData> take() {
    const std::lock_guard lock(mutex);
    if (free.empty()) return std::make_unique<BatchData>();
    auto data = std::move(free.back());
    free.pop_back();
    return data;
  }
  void give_back(std::unique_ptr<BatchData> data) {
    const std::lock_guard lock(mutex);
    free.push_back(std::move(data));
  }
};

BatchCutter::BatchCutter(std::shared_ptr<const models::Dataset> data, std::uint64_t seed)
    : data_(std::move(data)), seed_(seed), shelf_(std::make_shared<Shelf>()) {}

std::shared_ptr<const BatchData> BatchCutter::cut(const IndexRange& range) {
  if (range.count == 0) return nullptr;
  const auto order = order_of(range.epoch);
  THALWEG_CHECK(range.end() <= order->size(), "a lease lies within its epoch");
  auto data = shelf_->take();
  data_->read(std::span(*order).subspan(range.begin, range.count), *data);
  return {data.release(), [shelf = shelf_](const BatchData* done) {
            shelf->give_back(std::unique_ptr<BatchData>(const_cast<BatchData*>(done)));
          }};
}

std::shared_ptr<const BatchCutter::Order> BatchCutter::order_of(std::uint64_t epoch) {
  // Whoever needs an epoch first shuffles it, the others wait for it: on the pool, never in a handler.
  const std::lock_guard lock(orders_mutex_);
  for (const auto& [known, order] : orders_) {
    if (known == epoch) return order;
  }
  if (orders_.size() == 2) orders_.erase(orders_.begin());
  orders_.emplace_back(epoch, std::make_shared<const Order>(permutation(seed_, epoch, data_->size())));
  return orders_.back().second;
}

}  // namespace thalweg::actors
