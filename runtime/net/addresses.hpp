#pragma once

#include <thalweg/result.hpp>

#include <span>
#include <string>
#include <vector>

/// Which addresses this machine has, and which of them a node can tell others, so that they find it. A node
/// asks once, before it joins; `thalweg doctor` shows the answer. Resolving names may block for seconds.
namespace thalweg::net {

struct LocalAddress {
  std::string interface;  ///< "eth0"
  std::string address;    ///< "10.0.0.7", "fd00::7"; no scope
  bool ipv6 = false;
  bool running = true;  ///< the interface is up and its cable is in

  friend bool operator==(const LocalAddress&, const LocalAddress&) = default;
};

/// Every address of every interface, loopback included, in the system's order. Fails: `io`.
Result<std::vector<LocalAddress>> local_addresses();

/// Those of `all` that other machines may be able to reach, best first: nothing of loopback, link-local or
/// interfaces that are down; IPv4 before IPv6, and bridges to containers and virtual machines last.
std::vector<LocalAddress> advertisable(std::span<const LocalAddress> all);

/// The addresses that `host` stands for, each once, in the order in which they are to be tried.
/// Fails: `not_found`, with the resolver's reason.
Result<std::vector<std::string>> resolve(const std::string& host);

/// What the system calls this machine.
std::string host_name();

/// Whether `address` leads back to the machine that uses it: 127.0.0.0/8 and ::1.
bool is_loopback(const std::string& address);

}  // namespace thalweg::net
