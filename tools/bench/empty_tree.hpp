#pragma once

#include "gpu/device.hpp"
#include "runtime/time/clock.hpp"
#include "runtime/values/payload.hpp"

#include <chrono>
#include <cstddef>
#include <memory>

/// The way of a round without its work: streams say that they are done, and messages with a handle to a
/// vector go from the workers to a leader, to a root, back to the leader and to the workers, between bare
/// actors on a scheduler set up as a cluster's is. With one worker it is a chain of four hops, the least that
/// a round can take between the last gradient and the new parameters.
namespace thalweg::bench {

struct EmptyTreeOptions {
  std::size_t workers = 1;
  std::chrono::microseconds compute{0};  ///< for how long the first worker's stream sleeps each round
  std::chrono::microseconds later{0};    ///< each of the others sleeps that much longer than the one before
  Payload payload;                       ///< what every message carries
};

class EmptyTree {
 public:
  /// Requires: `device` and `clock` outlive it.
  EmptyTree(gpu::Device& device, const Clock& clock, EmptyTreeOptions options);
  ~EmptyTree();
  EmptyTree(const EmptyTree&) = delete;
  EmptyTree& operator=(const EmptyTree&) = delete;

  /// Makes `rounds` rounds and returns the median of their turns (Turns::median_s).
  double run(std::size_t rounds);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace thalweg::bench
