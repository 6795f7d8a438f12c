#include "runtime/net/tls.hpp"

#include <fmt/format.h>

#include <openssl/ssl.h>

namespace thalweg::net {
namespace {

namespace ssl = boost::asio::ssl;

Error unusable(const std::filesystem::path& file, const boost::system::error_code& error) {
  return {ErrorCode::corrupt, fmt::format("{}: cannot be used for TLS: {}: make keys with `thalweg keys`",
                                          file.string(), error.message())};
}

}  // namespace

Result<std::unique_ptr<ssl::context>> tls_context(const Credentials& credentials) {
  auto context = std::make_unique<ssl::context>(ssl::context::tls);
  SSL_CTX* native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_3_VERSION);
  // Connections are few and long: nothing is gained by resuming one, and a ticket outlives a node's key.
  SSL_CTX_set_num_tickets(native, 0);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  // Buffers of connections that carry something now and then are kept.
  SSL_CTX_clear_mode(native, SSL_MODE_RELEASE_BUFFERS);

  boost::system::error_code error;
  // Without a callback of ours OpenSSL asks the terminal for the passphrase of a locked key.
  context->set_password_callback([](std::size_t, ssl::context::password_purpose) { return std::string(); },
                                 error);
  context->load_verify_file(credentials.authority.string(), error);
  if (error) return unusable(credentials.authority, error);
  context->use_certificate_chain_file(credentials.certificate.string(), error);
  if (error) return unusable(credentials.certificate, error);
  context->use_private_key_file(credentials.key.string(), ssl::context::pem, error);
  if (error) return unusable(credentials.key, error);
  context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert, error);
  if (error) return unusable(credentials.authority, error);
  return context;
}

}  // namespace thalweg::net
