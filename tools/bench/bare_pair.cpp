#include "tools/bench/bare_pair.hpp"

#include "runtime/net/tls.hpp"
#include "runtime/wire/crc32c.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <thread>
#include <utility>  // Boost 1.74 forgets it

namespace thalweg::bench {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

constexpr auto all = [](const boost::system::error_code& error, std::size_t) {
  return error ? std::size_t{0} : std::size_t{1} << 30;
};

Error failed(const boost::system::error_code& error) {
  return {ErrorCode::io, "loopback: " + error.message()};
}

}  // namespace

float sum_of(std::span<const float> values) {
  constexpr std::size_t width = 16;
  std::array<float, width> lanes{};
  const std::size_t whole = values.size() / width * width;
  for (std::size_t i = 0; i < whole; i += width) {
    for (std::size_t lane = 0; lane < width; ++lane) lanes[lane] += values[i + lane];
  }
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  for (const float value : values.subspan(whole)) sum += value;
  return sum;
}

struct BarePair::State {
  explicit State(const Options& with) : options(with) {}

  boost::system::error_code open() {
    boost::system::error_code error;
    tcp::acceptor acceptor(loop);
    const tcp::endpoint loopback(asio::ip::address_v4::loopback(), 0);
    acceptor.open(tcp::v4(), error);
    if (!error) acceptor.bind(loopback, error);
    if (!error) acceptor.listen(1, error);
    if (!error) sender.connect(acceptor.local_endpoint(), error);
    if (!error) acceptor.accept(receiver, error);
    if (!error) sender.set_option(tcp::no_delay(true), error);
    if (!error && tls) shake_hands(error);
    return error;
  }

  void shake_hands(boost::system::error_code& error) {
    tls_sender.emplace(sender, *tls);
    tls_receiver.emplace(receiver, *tls);
    boost::system::error_code others;
    std::thread other([&] { tls_receiver->handshake(asio::ssl::stream_base::server, others); });
    tls_sender->handshake(asio::ssl::stream_base::client, error);
    other.join();
    if (!error) error = others;
  }

  boost::system::error_code write(std::span<const std::byte> bytes) {
    boost::system::error_code error;
    while (!bytes.empty() && !error) {
      const auto chunk = bytes.first(std::min(bytes.size(), options.chunk_bytes));
      const std::uint32_t crc = options.checksums ? wire::crc32c(chunk) : 0;
      const std::array<asio::const_buffer, 2> buffers{asio::const_buffer(&crc, sizeof(crc)),
                                                      asio::const_buffer(chunk.data(), chunk.size())};
      on(tls_sender, sender, [&](auto& stream) { asio::write(stream, buffers, all, error); });
      bytes = bytes.subspan(chunk.size());
    }
    return error;
  }

  boost::system::error_code read(std::span<std::byte> bytes) {
    boost::system::error_code error;
    while (!bytes.empty() && !error) {
      const auto chunk = bytes.first(std::min(bytes.size(), options.chunk_bytes));
      std::uint32_t crc = 0;
      on(tls_receiver, receiver, [&](auto& stream) {
        asio::read(stream, asio::buffer(&crc, sizeof(crc)), all, error);
        if (!error) asio::read(stream, asio::buffer(chunk.data(), chunk.size()), all, error);
      });
      if (!error && options.checksums && wire::crc32c(chunk) != crc) error = asio::error::fault;
      bytes = bytes.subspan(chunk.size());
    }
    return error;
  }

  /// Does `work` with the stream inside TLS, or with the socket when there is none.
  static void on(auto& inside, tcp::socket& socket, auto work) {
    if (inside) return work(*inside);
    work(socket);
  }

  const Options options;
  std::unique_ptr<asio::ssl::context> tls;
  asio::io_context loop;
  tcp::socket sender{loop}, receiver{loop};
  std::optional<asio::ssl::stream<tcp::socket&>> tls_sender, tls_receiver;
};

BarePair::BarePair(std::unique_ptr<State> state) : state_(std::move(state)) {}
BarePair::~BarePair() = default;

Result<std::unique_ptr<BarePair>> BarePair::open(const Options& options) {
  auto state = std::make_unique<State>(options);
  if (options.tls) {
    auto tls = net::tls_context(*options.tls);
    if (!tls.ok()) return tls.error();
    state->tls = std::move(*tls);
  }
  if (const auto error = state->open()) return failed(error);
  return std::unique_ptr<BarePair>(new BarePair(std::move(state)));
}

Result<float> BarePair::carry(std::span<const float> values, std::span<float> landing) {
  boost::system::error_code wrote;
  std::thread writer([&] { wrote = state_->write(std::as_bytes(values)); });
  const auto read = state_->read(std::as_writable_bytes(landing));
  const float sum = sum_of(landing);
  writer.join();
  if (wrote) return failed(wrote);
  if (read) return failed(read);
  return sum;
}

}  // namespace thalweg::bench
