#include "actors/tls_connections.hpp"

#include "runtime/net/tls_errors.hpp"

#include <caf/actor_system.hpp>
#include <caf/detail/socket_guard.hpp>
#include <caf/io/basp_broker.hpp>
#include <caf/io/middleman.hpp>
#include <caf/io/middleman_actor_impl.hpp>
#include <caf/io/network/default_multiplexer.hpp>
#include <caf/io/network/doorman_impl.hpp>
#include <caf/io/network/stream_impl.hpp>
#include <caf/io/scribe.hpp>
#include <caf/openssl/session.hpp>

#include <atomic>
#include <deque>
#include <exception>
#include <memory>
#include <sys/socket.h>
#include <utility>
#include <vector>

namespace thalweg::actors {

namespace {

namespace io = caf::io;
namespace network = caf::io::network;

/// Null: this node's keys cannot be read any more, or the other side has gone already. CAF throws for the one
/// and says so for the other; on its I/O thread an exception would end the process.
caf::openssl::session_ptr make_session(caf::actor_system& system, network::native_socket socket,
                                       bool accepted) {
  try {
    net::forget_tls_errors();
    return caf::openssl::make_session(system, socket, accepted);
  } catch (const std::exception&) {
    return nullptr;
  }
}

/// Connections to a port that have not yet said a word inside TLS: whoever has is of the cluster.
constexpr std::size_t strangers_max = 256;

/// One of them, as its connection and the port's doorman both know it. On CAF's I/O thread, but for the end.
struct Stranger {
  network::native_socket socket = network::invalid_native_socket;
  bool known = false;
  std::atomic<bool> gone = false;
};
using StrangerPtr = std::shared_ptr<Stranger>;

/// What a stream of CAF's does at its socket. CAF's session asks OpenSSL what the result of a call means, and
/// OpenSSL looks into the thread's queue of errors first. An error is left there by every connection that
/// ends without a farewell, since Debian's build of CAF compiles out the logging that would have emptied it.
class TlsSocket {
 public:
  TlsSocket(caf::openssl::session_ptr session, StrangerPtr stranger)
      : session_(std::move(session)), stranger_(std::move(stranger)) {}

  network::rw_state read_some(std::size_t& count, network::native_socket socket, void* to, std::size_t size) {
    net::forget_tls_errors();
    count = 0;
    const auto state = session_->read_some(count, socket, to, size);
    if (count > 0) stranger_->known = true;
    return state;
  }
  network::rw_state write_some(std::size_t& count, network::native_socket socket, const void* from,
                               std::size_t size) {
    net::forget_tls_errors();
    return session_->write_some(count, socket, from, size);
  }
  bool must_read_more(network::native_socket socket, std::size_t threshold) {
    return session_->must_read_more(socket, threshold);
  }

 private:
  caf::openssl::session_ptr session_;
  StrangerPtr stranger_;
};

/// One connection, as CAF's broker sees it. Owns its socket.
class TlsScribe final : public io::scribe {
 public:
  TlsScribe(network::default_multiplexer& loop, network::native_socket socket,
            caf::openssl::session_ptr session)
      : io::scribe(network::conn_hdl_from_socket(socket)),
        stranger_(std::make_shared<Stranger>()),
        stream_(loop, socket, std::move(session), stranger_) {
    stranger_->socket = socket;
  }
  ~TlsScribe() override { stranger_->gone = true; }

  [[nodiscard]] const StrangerPtr& stranger() const { return stranger_; }

  void configure_read(io::receive_policy::config config) override {
    stream_.configure_read(config);
    if (std::exchange(launched_, true)) return;
    stream_.start(this);
    // The handshake goes on in the first write, also when there is nothing to write yet.
    stream_.force_empty_write(this);
  }
  void ack_writes(bool enable) override { stream_.ack_writes(enable); }
  std::vector<char>& wr_buf() override { return stream_.wr_buf(); }
  std::vector<char>& rd_buf() override { return stream_.rd_buf(); }
  void flush() override { stream_.flush(this); }
  void graceful_shutdown() override {
    stream_.graceful_shutdown();
    detach(&stream_.backend(), false);
  }
  [[nodiscard]] std::string addr() const override {
    const auto address = network::remote_addr_of_fd(stream_.fd());
    return address ? *address : std::string();
  }
  [[nodiscard]] std::uint16_t port() const override {
    const auto number = network::remote_port_of_fd(stream_.fd());
    return number ? *number : std::uint16_t{0};
  }
  void add_to_loop() override { stream_.activate(this); }
  void remove_from_loop() override { stream_.passivate(); }

 private:
  bool launched_ = false;
  const StrangerPtr stranger_;
  network::stream_impl<TlsSocket> stream_;
};

/// A port, as CAF's broker sees it. CAF itself would keep strangers for as long as they like, until this
/// process may open no more files.
class TlsDoorman final : public network::doorman_impl {
 public:
  using network::doorman_impl::doorman_impl;

  bool new_connection() override {
    if (detached()) return false;
    auto& loop = acceptor_.backend();
    const auto socket = acceptor_.accepted_socket();
    caf::detail::socket_guard guard(socket);
    network::nonblocking(socket, true);
    auto session = make_session(parent()->system(), socket, true);
    if (session == nullptr) return true;
    auto scribe = caf::make_counted<TlsScribe>(loop, socket, std::move(session));
    guard.release();
    make_room();
    strangers_.push_back(scribe->stranger());
    const auto handle = scribe->hdl();
    parent()->add_scribe(std::move(scribe));
    return io::doorman::new_connection(&loop, handle);
  }

 private:
  /// The oldest stranger goes. It is CAF that closes the socket, as when the other side has ended.
  void make_room() {
    std::erase_if(strangers_, [](const StrangerPtr& each) { return each->known || each->gone; });
    if (strangers_.size() < strangers_max) return;
    ::shutdown(strangers_.front()->socket, SHUT_RDWR);
    strangers_.pop_front();
  }

  std::deque<StrangerPtr> strangers_;
};

class TlsConnections final : public io::middleman_actor_impl {
 public:
  using io::middleman_actor_impl::middleman_actor_impl;

 protected:
  caf::expected<io::scribe_ptr> connect(const std::string& host, std::uint16_t port) override {
    auto socket = network::new_tcp_connection(host, port);
    if (!socket) return std::move(socket.error());
    caf::detail::socket_guard guard(*socket);
    network::nonblocking(*socket, true);
    auto session = make_session(system(), *socket, false);
    if (session == nullptr) return caf::sec::cannot_connect_to_node;
    guard.release();
    return caf::make_counted<TlsScribe>(loop(), *socket, std::move(session));
  }

  caf::expected<io::doorman_ptr> open(std::uint16_t port, const char* address, bool reuse) override {
    auto socket = network::new_tcp_acceptor_impl(port, address, reuse);
    if (!socket) return std::move(socket.error());
    return caf::make_counted<TlsDoorman>(loop(), *socket);
  }

 private:
  network::default_multiplexer& loop() {
    return static_cast<network::default_multiplexer&>(system().middleman().backend());
  }
};

}  // namespace

io::middleman_actor spawn_tls_connections(caf::actor_system& system) {
  // The broker was made when the manager was loaded: here it is only looked up.
  const auto broker = system.middleman().named_broker<io::basp_broker>(caf::atom("BASP"));
  return system.spawn<TlsConnections, caf::detached + caf::hidden>(broker);
}

}  // namespace thalweg::actors
