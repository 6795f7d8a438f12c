#pragma once

#include "runtime/files/descriptor.hpp"
#include "runtime/net/endpoint.hpp"
#include "runtime/wire/frame.hpp"

#include <arpa/inet.h>
#include <chrono>
#include <limits>
#include <netinet/in.h>
#include <span>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/time.h>
#include <thread>
#include <vector>

namespace thalweg {

/// Looks again and again until `holds` does. False: it did not within `limit`.
template <class Condition>
bool within(std::chrono::milliseconds limit, Condition holds) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// The other end of a connection, which says and reads what a test wants, frames or not. Blocks, for 10
/// seconds at most. Throws where a test cannot go on.
class RawPeer {
 public:
  /// Connects to `at`, an IPv4 address.
  explicit RawPeer(const net::Endpoint& at) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval limit{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(at.port);
    if (::inet_pton(AF_INET, at.host.c_str(), &address.sin_addr) != 1 ||
        ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
      throw std::runtime_error("cannot connect to " + at.text());
    }
  }

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (written <= 0) return;
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }
  void write_frame(const wire::Frame& frame) { write(wire::encode(frame)); }

  /// Reads up to `most` bytes and forgets them; returns how many there were.
  std::size_t read_some(std::size_t most) {
    std::vector<std::byte> bytes(most);
    const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  wire::Frame read_frame() {
    wire::Header header{};
    if (::recv(socket_.get(), header.data(), header.size(), MSG_WAITALL) !=
        static_cast<ssize_t>(header.size())) {
      throw std::runtime_error("no frame came");
    }
    const auto frame = wire::decode(header, {std::numeric_limits<std::uint64_t>::max()});
    if (!frame.ok()) throw std::runtime_error(frame.error().text);
    return *frame;
  }

  /// Whether the other side closes the connection, whatever it says before.
  bool closed() {
    while (true) {
      std::byte byte{};
      const ssize_t got = ::recv(socket_.get(), &byte, 1, 0);
      if (got == 0 || (got < 0 && errno == ECONNRESET)) return true;
      if (got < 0) return false;
    }
  }

 private:
  Descriptor socket_;
};

}  // namespace thalweg
