#include "runtime/net/http_server.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/version.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace thalweg::net {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

namespace {

/// One connection, from its request to its answer. Keeps itself alive until then.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, const HttpServer::Options& options)
      : stream_(std::move(socket)), options_(options) {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(options_.request_max));
    parser_->body_limit(options_.request_max);
  }

  void start() {
    stream_.expires_after(options_.patience);
    http::async_read(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](beast::error_code error, std::size_t) { self->read(error); });
  }

 private:
  void read(beast::error_code error) {
    if (error == http::error::header_limit || error == http::error::body_limit) {
      return send({431, "text/plain; charset=utf-8", "the request is too large\n"});
    }
    if (error) {
      const bool parsed = error.category() == http::make_error_code(http::error::bad_method).category();
      if (parsed && error != http::error::end_of_stream && error != http::error::partial_message) {
        return send({400, "text/plain; charset=utf-8", "this is no HTTP request\n"});
      }
      return;  // gone, or silent for too long
    }
    const auto& request = parser_->get();
    head_only_ = request.method() == http::verb::head;
    if (!head_only_ && request.method() != http::verb::get) {
      return send({405, "text/plain; charset=utf-8", "GET and HEAD only\n"});
    }
    std::string_view path(request.target().data(), request.target().size());
    path = path.substr(0, path.find('?'));
    try {
      send(options_.answer(path));
    } catch (const std::exception& failure) {
      send({500, "text/plain; charset=utf-8", std::string(failure.what()) + "\n"});
    }
  }

  void send(HttpResponse answer) {
    response_.result(static_cast<unsigned>(answer.status));
    response_.version(11);
    response_.set(http::field::server, "thalweg");
    response_.set(http::field::content_type, answer.type);
    response_.set(http::field::cache_control, "no-store");
    response_.set("X-Content-Type-Options", "nosniff");
    if (answer.status == 405) response_.set(http::field::allow, "GET, HEAD");
    response_.keep_alive(false);
    response_.body() = std::move(answer.body);
    response_.prepare_payload();
    stream_.expires_after(options_.patience);
    serializer_.emplace(response_);
    const auto done = [self = shared_from_this()](beast::error_code, std::size_t) {
      beast::error_code ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    };
    if (head_only_) {
      http::async_write_header(stream_, *serializer_, done);
    } else {
      http::async_write(stream_, *serializer_, done);
    }
  }

  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
  std::optional<http::serializer<false, http::string_body>> serializer_;
  const HttpServer::Options& options_;
  bool head_only_ = false;
};

}  // namespace

class HttpServer::State {
 public:
  explicit State(Options options) : options_(std::move(options)) {}

  Status open() {
    beast::error_code error;
    tcp::resolver resolver(context_);
    const std::string host = options_.listen.host.empty() ? "0.0.0.0" : options_.listen.host;
    const auto found = resolver.resolve(host, std::to_string(options_.listen.port), error);
    const auto fail = [&](const std::string& why) {
      return Error{ErrorCode::io,
                   "cannot listen at " + options_.listen.text() + ": " + why + ": give another http.listen"};
    };
    if (error) return fail(error.message());
    const auto endpoint = found.begin()->endpoint();
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) return fail(error.message());
    local_ = {host, acceptor_.local_endpoint().port()};
    accept();
    thread_ = std::thread([this] { context_.run(); });
    return {};
  }

  ~State() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }

  [[nodiscard]] Endpoint local() const { return local_; }

 private:
  void accept() {
    acceptor_.async_accept([this](beast::error_code error, tcp::socket socket) {
      if (!error) std::make_shared<Session>(std::move(socket), options_)->start();
      // With too many open files it would fail again at once.
      if (error && error != asio::error::operation_aborted)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      if (acceptor_.is_open()) accept();
    });
  }

  const Options options_;
  asio::io_context context_;
  tcp::acceptor acceptor_{context_};
  Endpoint local_;
  std::thread thread_;
};

Result<std::unique_ptr<HttpServer>> HttpServer::open(Options options) {
  auto state = std::make_unique<State>(std::move(options));
  if (auto opened = state->open(); !opened) return opened.error();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::~HttpServer() = default;
Endpoint HttpServer::local() const { return state_->local(); }

}  // namespace thalweg::net
