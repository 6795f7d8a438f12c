#pragma once

#include "runtime/net/credentials.hpp"

#include <thalweg/result.hpp>

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <utility>  // Boost 1.74 forgets it

namespace thalweg::net {

/// TLS 1.3 with certificates on both sides: a peer without one that the authority signed does not get past
/// the handshake. Names in certificates are not compared with addresses: nodes move, and the hello says who
/// one is. Fails: `io` or `corrupt`, naming the file.
Result<std::unique_ptr<boost::asio::ssl::context>> tls_context(const Credentials& credentials);

}  // namespace thalweg::net
