#include "runtime/net/addresses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace thalweg::net {
namespace {

using Interfaces = std::unique_ptr<ifaddrs, decltype([](ifaddrs* first) { freeifaddrs(first); })>;
using Resolved = std::unique_ptr<addrinfo, decltype([](addrinfo* first) { freeaddrinfo(first); })>;

/// Empty for anything but an IP address.
std::string text_of(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address != nullptr && address->sa_family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  } else if (address != nullptr && address->sa_family == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  }
  if (bytes == nullptr || inet_ntop(address->sa_family, bytes, text.data(), text.size()) == nullptr)
    return {};
  return text.data();
}

/// 169.254.0.0/16 and fe80::/10: they mean something on one cable only.
bool is_link_local(const std::string& address) {
  in6_addr bytes = {};
  if (inet_pton(AF_INET6, address.c_str(), &bytes) == 1) return IN6_IS_ADDR_LINKLOCAL(&bytes) != 0;
  return address.starts_with("169.254.");
}

bool is_bridge(std::string_view interface) {
  constexpr std::array<std::string_view, 6> beginnings = {"docker", "br-", "virbr", "veth", "cni", "lxcbr"};
  return std::ranges::any_of(beginnings, [&](std::string_view one) { return interface.starts_with(one); });
}

}  // namespace

Result<std::vector<LocalAddress>> local_addresses() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) {
    return Error{ErrorCode::io, fmt::format("cannot list the network interfaces: {}", std::strerror(errno))};
  }
  const Interfaces interfaces(first);
  std::vector<LocalAddress> all;
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    const std::string text = text_of(one->ifa_addr);
    if (text.empty()) continue;
    const bool running = (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_RUNNING) != 0;
    all.push_back({one->ifa_name, text, one->ifa_addr->sa_family == AF_INET6, running});
  }
  return all;
}

std::vector<LocalAddress> advertisable(std::span<const LocalAddress> all) {
  std::vector<LocalAddress> some;
  for (const LocalAddress& one : all) {
    if (one.running && !is_loopback(one.address) && !is_link_local(one.address)) some.push_back(one);
  }
  std::ranges::stable_sort(
      some, {}, [](const LocalAddress& one) { return std::pair(is_bridge(one.interface), one.ipv6); });
  return some;
}

Result<std::vector<std::string>> resolve(const std::string& host) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, &hints, &first);
  if (error != 0) {
    const char* why = error == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(error);
    return Error{ErrorCode::not_found, fmt::format("{}: no address is known for it: {}", host, why)};
  }
  const Resolved resolved(first);
  std::vector<std::string> addresses;
  for (const addrinfo* one = first; one != nullptr; one = one->ai_next) {
    std::string text = text_of(one->ai_addr);
    if (text.empty() || std::ranges::find(addresses, text) != addresses.end()) continue;
    addresses.push_back(std::move(text));
  }
  return addresses;
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

bool is_loopback(const std::string& address) {
  in6_addr bytes = {};
  if (inet_pton(AF_INET6, address.c_str(), &bytes) == 1) return IN6_IS_ADDR_LOOPBACK(&bytes) != 0;
  return address.starts_with("127.");
}

}  // namespace thalweg::net
