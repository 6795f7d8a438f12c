#pragma once

#include "runtime/net/endpoint.hpp"

#include <thalweg/result.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

/// Answers HTTP/1.1 requests (RFC 9112): GET and HEAD only, a request a connection, on one thread. For pages
/// and figures that people and monitoring look at, not for bulk. The only place that includes Boost.Beast.
namespace thalweg::net {

struct HttpResponse {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

class HttpServer {
 public:
  struct Options {
    Endpoint listen;  ///< port 0: any free one
    /// The answer to a path, without what follows '?'. On the server's thread; what it throws is a 500.
    std::function<HttpResponse(std::string_view path)> answer;
    std::chrono::milliseconds patience{5000};  ///< for a request to come, and for an answer to be taken
    std::size_t request_max = 16 * 1024;       ///< bytes; more is refused
  };

  /// Fails: `io`, when the address cannot be had.
  static Result<std::unique_ptr<HttpServer>> open(Options options);
  /// Nothing is answered any more once it returns.
  ~HttpServer();

  [[nodiscard]] Endpoint local() const;

 private:
  class State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace thalweg::net
