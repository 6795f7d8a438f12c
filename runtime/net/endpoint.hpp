#pragma once

#include <thalweg/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

/// Where a node listens, as people write it and as it is used.
namespace thalweg::net {

/// `host`: a name or an address, IPv6 without brackets. Port 0 where one listens: any free one.
struct Endpoint {
  std::string host;
  std::uint16_t port = 0;

  /// "name:7000", "10.0.0.1:7000", "[::1]:7000".
  [[nodiscard]] std::string text() const;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// The reverse of Endpoint::text(). Fails: `invalid`, with what is missing or wrong.
Result<Endpoint> parse_endpoint(std::string_view text);

}  // namespace thalweg::net
