#pragma once

#include "gpu/device.hpp"
#include "runtime/time/clock.hpp"
#include "runtime/values/payload.hpp"

#include <chrono>
#include <memory>
#include <vector>

/// The way of a round without its work: a stream says it is done, and a message with a handle to a vector goes
/// worker, leader, root, leader, worker, between bare actors on a scheduler set up as a cluster's is. The
/// least that a round can take between the last gradient and the new parameters.
namespace thalweg::bench {

class Chain {
 public:
  /// `payload` is what the message carries; `compute` is for how long the stream is busy (asleep) before each
  /// time. Requires: `device` and `clock` outlive it.
  Chain(gpu::Device& device, const Clock& clock, Payload payload, std::chrono::microseconds compute);
  ~Chain();
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  /// Goes round `times` times, and says how long each took: from the end of the stream's work to the moment at
  /// which the worker has the message back.
  std::vector<double> run(std::size_t times);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace thalweg::bench
