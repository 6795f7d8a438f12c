#pragma once

#include "runtime/net/endpoint.hpp"
#include "runtime/time/clock.hpp"

#include <thalweg/result.hpp>

#include <chrono>
#include <string>
#include <vector>

/// Whether an address can be connected to, or listened at, found out by doing so and hanging up at once.
/// For `thalweg doctor`, and for whoever must not wait for minutes on a host that drops packets. Blocks.
namespace thalweg::net {

struct Attempt {
  Endpoint address;                   ///< one that the host's name stands for
  int reason = 0;                     ///< the system's, as ETIMEDOUT; 0: connected
  std::chrono::milliseconds took{0};  ///< until it was decided

  [[nodiscard]] bool connected() const { return reason == 0; }
};

/// Tries each address of `to.host`, one after the other, each for at most `limit`.
/// Fails: `not_found` when the name stands for none.
Result<std::vector<Attempt>> try_each_address(const Endpoint& to, std::chrono::milliseconds limit,
                                              const Clock& clock = SteadyClock());

/// Whether `at` can be listened at; port 0: any free port. The host is an address, not a name.
/// Returns the port. Fails: `io` with the system's reason.
Result<std::uint16_t> try_to_listen(const Endpoint& at);

}  // namespace thalweg::net
