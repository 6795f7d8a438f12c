#include "runtime/net/stream.hpp"

#include "runtime/net/endpoint.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <array>

namespace thalweg::net {
namespace {

namespace asio = boost::asio;

/// Asio's own "until all is transferred" gives the system 64 KiB at a time, which halves what loopback
/// carries.
constexpr std::size_t call_bytes_max = std::size_t{1} << 30;

std::string remote_of(const asio::ip::tcp::socket& socket) {
  ErrorCodeOfSystem error;
  const auto endpoint = socket.remote_endpoint(error);
  return error ? "a peer that is gone" : Endpoint{endpoint.address().to_string(), endpoint.port()}.text();
}

}  // namespace

Stream::Stream(asio::ip::tcp::socket socket, asio::ssl::context* tls)
    : socket_(std::move(socket)), remote_(remote_of(socket_)) {
  ErrorCodeOfSystem ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  if (tls != nullptr) tls_.emplace(socket_, *tls);
}

void Stream::handshake(Side side, Done done) {
  if (!tls_) return done({});
  tls_->async_handshake(
      side == Side::dialled ? asio::ssl::stream_base::client : asio::ssl::stream_base::server,
      std::move(done));
}

void Stream::read(std::span<std::byte> into, Done done) {
  const std::uint64_t before = received_;
  const auto all = [this, before](const ErrorCodeOfSystem& error, std::size_t bytes) {
    note_received(before + bytes);
    return error ? 0 : call_bytes_max;
  };
  const asio::mutable_buffer buffer(into.data(), into.size());
  // Asio does not ask for more when the buffer is full, so the last bytes are noted here.
  auto end = [this, before, done = std::move(done)](const ErrorCodeOfSystem& error, std::size_t bytes) {
    note_received(before + bytes);
    done(error);
  };
  if (tls_) return asio::async_read(*tls_, asio::buffer(buffer), all, std::move(end));
  asio::async_read(socket_, asio::buffer(buffer), all, std::move(end));
}

void Stream::write(std::span<const std::byte> header, std::span<const std::byte> body, Done done) {
  const auto all = [](const ErrorCodeOfSystem& error, std::size_t) { return error ? 0 : call_bytes_max; };
  const std::array<asio::const_buffer, 2> buffers{asio::const_buffer(header.data(), header.size()),
                                                  asio::const_buffer(body.data(), body.size())};
  auto end = [done = std::move(done)](const ErrorCodeOfSystem& error, std::size_t) { done(error); };
  if (tls_) return asio::async_write(*tls_, buffers, all, std::move(end));
  asio::async_write(socket_, buffers, all, std::move(end));
}

void Stream::note_received(std::uint64_t bytes) {
  if (bytes == received_) return;
  received_ = bytes;
  last_received_ = std::chrono::steady_clock::now();
}

void Stream::close() {
  ErrorCodeOfSystem ignored;
  socket_.close(ignored);
}

}  // namespace thalweg::net
