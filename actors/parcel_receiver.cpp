#include "actors/parcel_receiver.hpp"

#include <algorithm>
#include <utility>

namespace thalweg::actors {

net::Landing ParcelReceiver::land(net::PeerId from, std::size_t floats) {
  if (std::find(options_.sizes.begin(), options_.sizes.end(), floats) == options_.sizes.end()) {
    const bool first = [&] {
      const std::lock_guard lock(mutex_);
      return refused_.insert(from).second;
    }();
    if (first && options_.wrong_size) options_.wrong_size(from, floats);
    return {};
  }
  std::shared_ptr<gpu::Buffer> buffer;
  {
    const std::lock_guard lock(mutex_);
    auto& pool = pools_[floats];
    if (!pool) pool = gpu::BufferPool::make_host(floats, options_.buffers_max);
    buffer = pool->take();
  }
  if (!buffer) return {};
  const auto values = buffer->values();
  return {std::move(buffer), values};
}

void ParcelReceiver::arrived(net::PeerId from, net::Parcel parcel) {
  const Status done = options_.directory->deliver(from, parcel.stamp, parcel.to, parcel.body,
                                                  std::move(parcel.payloads), *options_.neighbours);
  if (!done.ok() && options_.complaint) options_.complaint(from, done.error());
}

void ParcelReceiver::opened(net::PeerId peer) {
  if (options_.opened) options_.opened(peer);
}

void ParcelReceiver::lost(net::PeerId peer, const std::string& why) {
  if (options_.lost) options_.lost(peer, why);
}

gpu::PoolCounters ParcelReceiver::counters(std::size_t floats) const {
  const std::lock_guard lock(mutex_);
  const auto found = pools_.find(floats);
  return found == pools_.end() ? gpu::PoolCounters{} : found->second->counters();
}

}  // namespace thalweg::actors
