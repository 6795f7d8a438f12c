#include "runtime/net/library_versions.hpp"

#include <boost/version.hpp>
#include <fmt/format.h>

#include <openssl/crypto.h>

namespace thalweg::net {

std::vector<std::string> library_versions() {
  return {
      fmt::format("OpenSSL {}", OpenSSL_version(OPENSSL_VERSION_STRING)),
      fmt::format("Boost {}.{}.{}", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100)};
}

}  // namespace thalweg::net
