#pragma once

#include "runtime/values/payload.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

/// Flat vectors: the memory of parameters, gradients and sums. A pool hands out equal buffers and takes them
/// back when their last holder lets go, so that a steady state allocates nothing.
namespace thalweg::gpu {

/// One flat vector that its maker may write. To send it, move the shared_ptr into a `Payload`: from then on
/// it is immutable.
class Buffer : public FlatVector {
 public:
  /// The floats, 64-byte aligned (128 between buffers, against false sharing).
  [[nodiscard]] virtual std::span<float> values() = 0;
};

struct PoolCounters {
  std::size_t allocated = 0;    ///< buffers made so far
  std::size_t in_use = 0;       ///< of which are held by somebody
  std::uint64_t taken = 0;      ///< successful take() calls
  std::uint64_t exhausted = 0;  ///< take() calls that found none: waits
};

/// Buffers of one size. Thread-safe: buffers come back from whichever thread lets go last, also after the
/// pool itself is gone.
class BufferPool {
 public:
  /// At most `limit` buffers of `size` floats; memory is allocated as buffers are first taken, zeroed.
  static std::shared_ptr<BufferPool> make_host(std::size_t size, std::size_t limit);

  virtual ~BufferPool() = default;

  /// A buffer with whatever its last user left in it, or null when all `limit` are in use.
  virtual std::shared_ptr<Buffer> take() = 0;

  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual PoolCounters counters() const = 0;
};

}  // namespace thalweg::gpu
