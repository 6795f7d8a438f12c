#pragma once

#include "gpu/device.hpp"
#include "runtime/time/clock.hpp"

#include <cstddef>
#include <memory>
#include <vector>

/// What this machine can do at best, measured: the rates that floors are made of.
namespace thalweg::bench {

/// The triad of the STREAM benchmark, a = b + s c, over three arrays: the yardstick for memory bandwidth.
/// Twelve bytes are moved for each float of an array.
class Triad {
 public:
  /// Three arrays that together move `bytes`.
  explicit Triad(std::size_t bytes);

  void run();                                               ///< all of it, on this thread
  void run(std::size_t begin, std::size_t end);             ///< the floats [begin, end) of it
  [[nodiscard]] std::size_t size() const { return size_; }  ///< floats of an array
  [[nodiscard]] double bytes() const { return 12.0 * static_cast<double>(size_); }

 private:
  std::size_t size_;
  std::shared_ptr<gpu::BufferPool> pool_;
  std::shared_ptr<gpu::Buffer> a_, b_, c_;
};

/// Floating point operations a second of the largest matrix product worth making here, on `threads` streams
/// of `device` at once: the best of a few. Fails: as the device.
Result<double> measured_flops(gpu::Device& device, const Clock& clock, std::size_t threads);

}  // namespace thalweg::bench
