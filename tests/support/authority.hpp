#pragma once

#include "runtime/net/credentials.hpp"
#include "runtime/net/endpoint.hpp"

#include <filesystem>
#include <string>

/// Certificates for tests of TLS, as little of each as OpenSSL wants.
namespace thalweg {

/// Who signs nodes. Its files are in a folder of the test's.
class Authority {
 public:
  /// In `dir`, which exists. Throws where a test cannot go on.
  explicit Authority(const std::filesystem::path& dir);
  /// A key and a certificate for `name`.
  [[nodiscard]] net::Credentials issue(const std::string& name) const;

 private:
  std::filesystem::path dir_;
};

/// Speaks TLS 1.3 to `at`, an IPv4 address, shows no certificate, and waits. Returns what ended it, in
/// OpenSSL's words; empty: a byte came.
std::string refusal_without_certificate(const net::Endpoint& at);

}  // namespace thalweg
