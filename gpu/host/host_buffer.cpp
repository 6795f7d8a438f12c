#include "gpu/host/host_buffer.hpp"

#include <cstring>

namespace thalweg::gpu::host {

HostBuffer::HostBuffer(std::size_t size) : memory_(size * sizeof(float)), size_(size) {
  if (size > 0) std::memset(memory_.data(), 0, size * sizeof(float));
}

std::shared_ptr<Buffer> HostBufferPool::take() {
  std::unique_ptr<HostBuffer> buffer;
  {
    const std::lock_guard lock(shelf_->mutex);
    auto& counters = shelf_->counters;
    if (!shelf_->free.empty()) {
      buffer = std::move(shelf_->free.back());
      shelf_->free.pop_back();
    } else if (counters.allocated == limit_) {
      ++counters.exhausted;
      return nullptr;
    } else {
      ++counters.allocated;
    }
    ++counters.in_use;
    ++counters.taken;
  }
  // Outside the lock: clearing a large buffer takes a while.
  if (!buffer) buffer = std::make_unique<HostBuffer>(size_);
  return {buffer.release(),
          [shelf = shelf_](HostBuffer* back) { shelf->put_back(std::unique_ptr<HostBuffer>(back)); }};
}

HostBufferPool::~HostBufferPool() {
  std::vector<std::unique_ptr<HostBuffer>> freed;
  const std::lock_guard lock(shelf_->mutex);
  shelf_->closed = true;
  freed.swap(shelf_->free);
}

PoolCounters HostBufferPool::counters() const {
  const std::lock_guard lock(shelf_->mutex);
  return shelf_->counters;
}

void HostBufferPool::Shelf::put_back(std::unique_ptr<HostBuffer> buffer) {
  const std::lock_guard lock(mutex);
  --counters.in_use;
  if (!closed) free.push_back(std::move(buffer));
}

}  // namespace thalweg::gpu::host

namespace thalweg::gpu {

std::shared_ptr<BufferPool> BufferPool::make_host(std::size_t size, std::size_t limit) {
  return std::make_shared<host::HostBufferPool>(size, limit);
}

}  // namespace thalweg::gpu
