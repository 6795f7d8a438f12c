#pragma once

#include <cstddef>
#include <memory>
#include <span>

/// The bulk of a message: an immutable flat vector that every holder shares. Devices make them
/// (gpu/buffer.hpp); between actors of one node only the handle travels.
namespace thalweg {

/// A vector of floats somewhere in memory. Const access only, from any thread.
class FlatVector {
 public:
  virtual ~FlatVector() = default;

  [[nodiscard]] virtual std::size_t size() const = 0;  ///< floats

  /// The floats, 64-byte aligned; empty when they are not in host memory.
  [[nodiscard]] virtual std::span<const float> host() const = 0;

  [[nodiscard]] std::size_t bytes() const { return size() * sizeof(float); }
};

/// Null: no payload. The last holder to let go returns the memory to the pool it came from.
using Payload = std::shared_ptr<const FlatVector>;

}  // namespace thalweg
