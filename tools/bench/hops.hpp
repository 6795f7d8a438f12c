#pragma once

#include "runtime/time/clock.hpp"

#include <cstddef>
#include <memory>

/// Two actors that throw one message to and fro, on a scheduler with one thread: what a message costs, with
/// no thread to wake.
namespace thalweg::bench {

enum class HopKind {
  bare,      ///< typed actors of the framework, as they are
  observed,  ///< our roles: stamps read and made
  recorded,  ///< our roles, each message told to a sink
};

class Hops {
 public:
  /// Requires: `clock` outlives it.
  Hops(HopKind kind, const Clock& clock);
  ~Hops();
  Hops(const Hops&) = delete;
  Hops& operator=(const Hops&) = delete;

  /// Lets the message be handled `count` times, and returns when it has been. `count` is at least 1.
  void run(std::size_t count);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace thalweg::bench
