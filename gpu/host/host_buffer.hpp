#pragma once

#include "gpu/buffer.hpp"
#include "gpu/host/aligned_memory.hpp"

#include <mutex>
#include <vector>

namespace thalweg::gpu::host {

class HostBuffer final : public Buffer {
 public:
  explicit HostBuffer(std::size_t size);

  [[nodiscard]] std::size_t size() const override { return size_; }
  [[nodiscard]] std::span<const float> host() const override { return {memory_.data(), size_}; }
  [[nodiscard]] std::span<float> values() override { return {memory_.data(), size_}; }

 private:
  AlignedMemory memory_;
  std::size_t size_;
};

/// A buffer's holders share it through its shared_ptr, whose deleter puts it back on the shelf. The shelf
/// lives as long as the pool or any of its buffers does.
class HostBufferPool final : public BufferPool {
 public:
  HostBufferPool(std::size_t size, std::size_t limit) : size_(size), limit_(limit) {}
  ~HostBufferPool() override;

  std::shared_ptr<Buffer> take() override;
  [[nodiscard]] std::size_t size() const override { return size_; }
  [[nodiscard]] PoolCounters counters() const override;

 private:
  struct Shelf {
    std::mutex mutex;
    std::vector<std::unique_ptr<HostBuffer>> free;
    PoolCounters counters;
    bool closed = false;  ///< the pool is gone: what comes back is freed

    void put_back(std::unique_ptr<HostBuffer> buffer);
  };

  std::size_t size_;
  std::size_t limit_;
  std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>();
};

}  // namespace thalweg::gpu::host
