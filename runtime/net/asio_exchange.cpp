#include "runtime/net/asio_exchange.hpp"

#include "runtime/check.hpp"
#include "runtime/net/peers.hpp"
#include "runtime/net/tls.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include <thread>

namespace thalweg::net {
namespace {

using tcp = boost::asio::ip::tcp;

/// After a connection could not be taken, as when no descriptors are left.
constexpr std::chrono::milliseconds accept_again{100};

Peers::Options peers_options(const AsioExchange::Options& options, boost::asio::ssl::context* tls) {
  return {.connection = {.self = options.self,
                         .run = options.run,
                         .silence = options.silence,
                         .chunk_bytes = std::min(options.chunk_bytes, wire::body_bytes_max),
                         .payload_floats_max = options.payload_floats_max,
                         .checksums = options.checksums && tls == nullptr},
          .strangers_max = options.strangers_max,
          .tls = tls};
}

}  // namespace

/// The thread, the door and the peers.
class AsioExchange::State {
 public:
  State(const Options& options, std::unique_ptr<boost::asio::ssl::context> tls)
      : options_(options),
        tls_(std::move(tls)),
        acceptor_(loop_),
        accept_timer_(loop_),
        peers_(loop_, peers_options(options_, tls_.get()), options_.listener) {}

  Status listen() {
    ErrorCodeOfSystem error;
    tcp::resolver resolver(loop_);
    const auto addresses = resolver.resolve(options_.listen.host, std::to_string(options_.listen.port),
                                            tcp::resolver::numeric_service | tcp::resolver::passive, error);
    if (error || addresses.empty()) {
      return Error{ErrorCode::invalid, fmt::format("cannot listen at {}: {}: name an address of this machine",
                                                   options_.listen.text(), error.message())};
    }
    const auto address = addresses.begin()->endpoint();
    acceptor_.open(address.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(address, error);
    if (!error) acceptor_.listen(boost::asio::socket_base::max_listen_connections, error);
    if (!error) local_ = {options_.listen.host, acceptor_.local_endpoint(error).port()};
    if (!error) return {};
    return Error{ErrorCode::io, fmt::format("cannot listen at {}: {}: free the port, or name another",
                                            options_.listen.text(), error.message())};
  }

  void start() {
    accept_next();
    thread_ = std::thread([this] { loop_.run(); });
  }

  void stop() {
    boost::asio::post(loop_, [this] {
      ErrorCodeOfSystem ignored;
      acceptor_.close(ignored);
      accept_timer_.cancel();
      peers_.close();
      work_.reset();
    });
    thread_.join();
  }

  /// Any thread; `task` runs on the exchange's.
  void post(auto task) { boost::asio::post(loop_, std::move(task)); }

  [[nodiscard]] Peers& peers() { return peers_; }
  [[nodiscard]] const Peers& peers() const { return peers_; }
  [[nodiscard]] const Endpoint& local() const { return local_; }
  [[nodiscard]] const Options& options() const { return options_; }

 private:
  void accept_next() {
    acceptor_.async_accept([this](const ErrorCodeOfSystem& error, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (!error) {
        peers_.accept(std::move(socket));
        return accept_next();
      }
      accept_timer_.expires_after(accept_again);
      accept_timer_.async_wait([this](const ErrorCodeOfSystem& stopped) {
        if (!stopped && acceptor_.is_open()) accept_next();
      });
    });
  }

  const Options options_;
  const std::unique_ptr<boost::asio::ssl::context> tls_;
  boost::asio::io_context loop_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_ =
      boost::asio::make_work_guard(loop_);
  tcp::acceptor acceptor_;
  boost::asio::steady_timer accept_timer_;
  Endpoint local_;
  Peers peers_;
  std::thread thread_;
};

Result<std::unique_ptr<Exchange>> AsioExchange::open(Options options) {
  std::unique_ptr<boost::asio::ssl::context> tls;
  if (options.tls) {
    auto made = tls_context(*options.tls);
    if (!made.ok()) return made.error();
    tls = std::move(*made);
  }
  auto state = std::make_unique<State>(options, std::move(tls));
  if (const Status listening = state->listen(); !listening) return listening.error();
  state->start();
  return std::unique_ptr<Exchange>(new AsioExchange(std::move(state)));
}

AsioExchange::AsioExchange(std::unique_ptr<State> state) : state_(std::move(state)) {}
AsioExchange::~AsioExchange() { state_->stop(); }

Endpoint AsioExchange::local() const { return state_->local(); }

void AsioExchange::connect(PeerId peer, std::vector<Endpoint> at) {
  state_->post([state = state_.get(), peer, at = std::move(at)]() mutable {
    state->peers().connect(peer, std::move(at));
  });
}

void AsioExchange::send(PeerId to, Parcel parcel) {
  for (const Payload& payload : parcel.payloads) {
    THALWEG_CHECK(!payload || payload->size() <= state_->options().payload_floats_max,
                  "a payload is no larger than what exchanges take");
  }
  const auto traffic = state_->peers().traffic(to);
  ++traffic->parcels_waiting;
  traffic->bytes_waiting += payload_bytes(parcel);
  state_->post([state = state_.get(), to, parcel = std::move(parcel)]() mutable {
    state->peers().send(to, std::move(parcel));
  });
}

void AsioExchange::fence(PeerId peer) {
  state_->post([state = state_.get(), peer] { state->peers().fence(peer); });
}

Exchange::Gauges AsioExchange::gauges(PeerId peer) const {
  const auto traffic = state_->peers().known_traffic(peer);
  return traffic ? traffic->read() : Gauges{};
}

AsioExchange::Counts AsioExchange::counts() const { return state_->peers().counts(); }

}  // namespace thalweg::net
