#pragma once

#include "gpu/device.hpp"
#include "runtime/net/addresses.hpp"

#include <thalweg/result.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

/// What a node would find on this machine, as plain facts: judged in judge.hpp, so that a test can make up
/// any machine.
namespace thalweg::doctor {

/// A limit of this process, and how far it may raise it itself.
struct Limit {
  static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t now = none;
  std::uint64_t most = none;
};

struct Machine {
  std::string system;                  ///< "Linux 6.1.0"
  std::vector<std::string> libraries;  ///< "CAF 0.17.6"
  gpu::DeviceReport devices;

  std::string host_name;
  Result<std::vector<std::string>> host_addresses = std::vector<std::string>();  ///< what it resolves to
  Result<std::vector<net::LocalAddress>> addresses = std::vector<net::LocalAddress>();
  Status listens_ipv4, listens_ipv6;  ///< whether a free port can be listened at

  std::chrono::sys_seconds time{};
  Status clock_synchronized;  ///< `failed`: by nobody; `io`: it cannot be known

  Limit open_files, processes;  ///< threads count as processes

  int pid = 0;
  bool own_pids = false;  ///< a pid namespace that is not the machine's: a container
};

/// Looks. Resolves the machine's own name, which may take seconds where a name server does not answer.
Machine look_at_machine();

}  // namespace thalweg::doctor
