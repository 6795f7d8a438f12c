#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>  // Boost 1.74 forgets it

/// A TCP connection, plain or inside TLS, as connection.cpp uses it: whole buffers in, whole buffers out. One
/// read and one write at a time; on the exchange's thread. Whoever starts an operation keeps the stream alive
/// until its end is reported, which close() brings about.
namespace thalweg::net {

using ErrorCodeOfSystem = boost::system::error_code;

class Stream {
 public:
  using Done = std::function<void(const ErrorCodeOfSystem&)>;
  enum class Side { dialled, accepted };

  /// `tls` null: plain. Outlives the stream otherwise.
  Stream(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* tls);

  void handshake(Side side, Done done);
  void read(std::span<std::byte> into, Done done);
  void write(std::span<const std::byte> header, std::span<const std::byte> body, Done done);
  void close();

  /// Bytes read so far, those of a read under way included, and when the last of them came.
  [[nodiscard]] std::uint64_t received() const { return received_; }
  [[nodiscard]] std::chrono::steady_clock::time_point last_received() const { return last_received_; }
  [[nodiscard]] boost::asio::ip::tcp::socket& socket() { return socket_; }
  /// "10.0.0.2:7000", whom it is with.
  [[nodiscard]] const std::string& remote() const { return remote_; }

 private:
  void note_received(std::uint64_t bytes);

  boost::asio::ip::tcp::socket socket_;
  std::optional<boost::asio::ssl::stream<boost::asio::ip::tcp::socket&>> tls_;
  std::string remote_;
  std::uint64_t received_ = 0;
  std::chrono::steady_clock::time_point last_received_ = std::chrono::steady_clock::now();
};

}  // namespace thalweg::net
