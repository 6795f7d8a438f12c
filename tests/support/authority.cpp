#include "tests/support/authority.hpp"

#include <fstream>
#include <memory>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdexcept>

namespace thalweg {
namespace {

template <auto free>
struct Free {
  void operator()(auto* it) const { free(it); }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>>;
using Bio = std::unique_ptr<BIO, Free<BIO_free_all>>;
using Context = std::unique_ptr<SSL_CTX, Free<SSL_CTX_free>>;

void need(bool holds) {
  if (!holds) throw std::runtime_error("OpenSSL does not do what a test needs");
}

/// `issuer` null: signed by itself.
Certificate certify(const std::string& name, EVP_PKEY* key, X509* issuer, EVP_PKEY* issuer_key) {
  Certificate certificate(X509_new());
  X509* const made = certificate.get();
  need(made != nullptr && X509_set_version(made, X509_VERSION_3) == 1);
  ASN1_INTEGER_set(X509_get_serialNumber(made), issuer == nullptr ? 1 : 2);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_gmtime_adj(X509_getm_notBefore(made), -3600);
  X509_gmtime_adj(X509_getm_notAfter(made), 3600);
  X509_set_pubkey(made, key);
  X509_set_issuer_name(made, X509_get_subject_name(issuer != nullptr ? issuer : made));
  const Extension constraints(X509V3_EXT_conf_nid(
      nullptr, nullptr, NID_basic_constraints, issuer == nullptr ? "critical,CA:TRUE" : "critical,CA:FALSE"));
  need(constraints && X509_add_ext(made, constraints.get(), -1) == 1);
  need(X509_sign(made, issuer_key, EVP_sha256()) > 0);
  return certificate;
}

Bio file(const std::filesystem::path& path, const char* mode) {
  Bio bio(BIO_new_file(path.c_str(), mode));
  need(bio != nullptr);
  return bio;
}

void write(const std::filesystem::path& path, EVP_PKEY* key) {
  need(PEM_write_bio_PrivateKey(file(path, "w").get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
}
void write(const std::filesystem::path& path, X509* certificate) {
  need(PEM_write_bio_X509(file(path, "w").get(), certificate) == 1);
}

}  // namespace

Authority::Authority(const std::filesystem::path& dir) : dir_(dir) {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate = certify("authority", key.get(), nullptr, key.get());
  write(dir_ / "ca.key", key.get());
  write(dir_ / "ca.pem", certificate.get());
}

net::Credentials Authority::issue(const std::string& name) const {
  const Key own(PEM_read_bio_PrivateKey(file(dir_ / "ca.key", "r").get(), nullptr, nullptr, nullptr));
  const Certificate authority(PEM_read_bio_X509(file(dir_ / "ca.pem", "r").get(), nullptr, nullptr, nullptr));
  need(own && authority);
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate = certify(name, key.get(), authority.get(), own.get());
  net::Credentials credentials{dir_ / "ca.pem", dir_ / (name + ".pem"), dir_ / (name + ".key")};
  write(credentials.certificate, certificate.get());
  write(credentials.key, key.get());
  return credentials;
}

std::string refusal_without_certificate(const net::Endpoint& at) {
  const Context context(SSL_CTX_new(TLS_client_method()));
  need(context && SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) == 1);
  const Bio bio(BIO_new_ssl_connect(context.get()));
  need(bio && BIO_set_conn_hostname(bio.get(), at.text().c_str()) == 1);
  char byte = 0;
  // In TLS 1.3 a client is done before the server has looked for its certificate, and hears of it when it
  // reads.
  if (BIO_do_connect(bio.get()) == 1 && BIO_read(bio.get(), &byte, 1) == 1) return "";
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return reason != nullptr ? reason : "closed";
}

}  // namespace thalweg
