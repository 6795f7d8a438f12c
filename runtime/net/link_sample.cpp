#include "runtime/net/pace.hpp"

#include <cstddef>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

// Apart from pace.cpp, and from Asio: the kernel's header, which alone has these fields, and the C library's
// cannot be included together.
namespace thalweg::net {

std::optional<LinkSample> sample_link(int socket) {
  tcp_info info{};
  socklen_t size = sizeof(info);
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  // A kernel before 4.9 fills in less.
  if (size < offsetof(tcp_info, tcpi_delivery_rate) + sizeof(info.tcpi_delivery_rate)) return {};
  // All ones: nothing was measured yet.
  if (info.tcpi_min_rtt == ~std::uint32_t{0}) return {};
  return LinkSample{.least_round_trip = std::chrono::microseconds(info.tcpi_min_rtt),
                    .delivered_bytes_per_s = info.tcpi_delivery_rate,
                    .application_limited = info.tcpi_delivery_rate_app_limited != 0};
}

void pace_link(int socket, std::uint64_t bytes_per_s) {
  // All ones is the kernel's "no bound". One that does not know the option does not pace.
  const std::uint64_t rate = bytes_per_s == 0 ? ~std::uint64_t{0} : bytes_per_s;
  static_cast<void>(::setsockopt(socket, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate)));
}

}  // namespace thalweg::net
