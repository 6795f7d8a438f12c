#include "runtime/net/probe.hpp"

#include "runtime/files/descriptor.hpp"
#include "runtime/net/addresses.hpp"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace thalweg::net {
namespace {

using std::chrono::milliseconds;

struct SocketAddress {
  sockaddr_storage bytes = {};
  socklen_t size = 0;  // 0: the text is no address

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
};

SocketAddress socket_address(const Endpoint& endpoint) {
  SocketAddress address;
  auto* four = reinterpret_cast<sockaddr_in*>(&address.bytes);
  auto* six = reinterpret_cast<sockaddr_in6*>(&address.bytes);
  if (inet_pton(AF_INET, endpoint.host.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(endpoint.port);
    address.size = sizeof(sockaddr_in);
  } else if (inet_pton(AF_INET6, endpoint.host.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(endpoint.port);
    address.size = sizeof(sockaddr_in6);
  }
  return address;
}

/// Waits until the connection that `socket` began is decided. The system's reason; 0: connected.
int wait_for(const Descriptor& socket, milliseconds limit, const Clock& clock) {
  const auto deadline = clock.now() + limit;
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - clock.now());
    if (left.count() <= 0) return ETIMEDOUT;
    pollfd waiting = {socket.get(), POLLOUT, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno != EINTR) return errno;
    if (ready <= 0) continue;
    int reason = 0;
    socklen_t size = sizeof(reason);
    return ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &reason, &size) == 0 ? reason : errno;
  }
}

int try_to_connect(const Endpoint& to, milliseconds limit, const Clock& clock) {
  const SocketAddress address = socket_address(to);
  if (address.size == 0) return EADDRNOTAVAIL;
  const Descriptor socket(::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.open()) return errno;
  if (::connect(socket.get(), address.get(), address.size) == 0) return 0;
  return errno == EINPROGRESS ? wait_for(socket, limit, clock) : errno;
}

}  // namespace

Result<std::vector<Attempt>> try_each_address(const Endpoint& to, milliseconds limit, const Clock& clock) {
  const Result<std::vector<std::string>> addresses = resolve(to.host);
  if (!addresses) return addresses.error();
  std::vector<Attempt> attempts;
  for (const std::string& address : *addresses) {
    const auto start = clock.now();
    Attempt attempt = {{address, to.port}};
    attempt.reason = try_to_connect(attempt.address, limit, clock);
    attempt.took = std::chrono::duration_cast<milliseconds>(clock.now() - start);
    attempts.push_back(std::move(attempt));
  }
  return attempts;
}

Result<std::uint16_t> try_to_listen(const Endpoint& at) {
  const auto failed = [&] {
    return Error{ErrorCode::io, fmt::format("cannot listen at {}: {}", at.text(), std::strerror(errno))};
  };
  SocketAddress address = socket_address(at);
  errno = EADDRNOTAVAIL;
  if (address.size == 0) return failed();
  const Descriptor socket(::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.open()) return failed();
  // As the node does: one that was restarted takes its port again at once.
  const int on = 1;
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0) return failed();
  if (::bind(socket.get(), address.get(), address.size) != 0) return failed();
  if (::listen(socket.get(), 1) != 0) return failed();
  auto* bound = reinterpret_cast<sockaddr*>(&address.bytes);
  if (::getsockname(socket.get(), bound, &address.size) != 0) return failed();
  const bool six = address.bytes.ss_family == AF_INET6;
  return ntohs(six ? reinterpret_cast<const sockaddr_in6*>(bound)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(bound)->sin_port);
}

}  // namespace thalweg::net
