#include "runtime/net/endpoint.hpp"

#include <fmt/format.h>

#include <charconv>

namespace thalweg::net {

std::string Endpoint::text() const {
  const bool brackets = host.find(':') != std::string::npos;
  return brackets ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

Result<Endpoint> parse_endpoint(std::string_view text) {
  const auto wrong = [text](std::string_view what) {
    return Error{ErrorCode::invalid,
                 fmt::format("\"{}\" is no address: {}; write HOST:PORT or [IPV6]:PORT", text, what)};
  };
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong("the port is missing");
  auto host = text.substr(0, colon);
  const auto port = text.substr(colon + 1);
  const bool brackets = host.starts_with('[') && host.ends_with(']');
  if (brackets) host = host.substr(1, host.size() - 2);
  if (host.empty()) return wrong("the host is missing");
  if (!brackets && host.find(':') != std::string_view::npos) return wrong("an IPv6 address needs brackets");
  Endpoint endpoint{std::string(host), 0};
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  if (error != std::errc() || end != port.data() + port.size() || port.empty()) {
    return wrong("the port is a number from 0 to 65535");
  }
  return endpoint;
}

}  // namespace thalweg::net
