#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace thalweg::gpu::host {

/// Where memory of different threads begins and ends. Twice a cache line, since processors fetch lines in
/// pairs: sharing a pair costs 15 to 25 % of a training step.
inline constexpr std::size_t alignment = 128;

/// Floats of one owner: starts at a multiple of 128 bytes and fills whole ones. Not initialised.
class AlignedMemory {
 public:
  AlignedMemory() = default;  ///< none
  explicit AlignedMemory(std::size_t bytes) {
    if (bytes == 0) return;
    const auto padded = (bytes + alignment - 1) / alignment * alignment;
    memory_.reset(static_cast<float*>(::operator new (padded, std::align_val_t{alignment})));
  }

  [[nodiscard]] float* data() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(float* memory) const { ::operator delete (memory, std::align_val_t{alignment}); }
  };
  std::unique_ptr<float[], Free> memory_;
};

}  // namespace thalweg::gpu::host
