#include "runtime/net/certificate.hpp"

#include "runtime/files/new_file.hpp"

#include <fmt/format.h>

#include <array>
#include <ctime>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <vector>

namespace thalweg::net {
namespace {

using Bio = std::unique_ptr<BIO, decltype([](BIO* bio) { BIO_free(bio); })>;
using Extension =
    std::unique_ptr<X509_EXTENSION, decltype([](X509_EXTENSION* one) { X509_EXTENSION_free(one); })>;
using Number = std::unique_ptr<BIGNUM, decltype([](BIGNUM* number) { BN_free(number); })>;

constexpr std::size_t pem_bytes_max = 1U << 16;

/// OpenSSL keeps its reasons in a queue of the thread; this empties it.
Error openssl_error(std::string_view failed) {
  std::string reason = "no reason given";
  if (const unsigned long code = ERR_get_error(); code != 0) {
    const char* text = ERR_reason_error_string(code);
    reason = text != nullptr ? text : fmt::format("error {:x}", code);
  }
  ERR_clear_error();
  return {ErrorCode::failed, fmt::format("{}: OpenSSL: {}", failed, reason)};
}

std::string common_name(const X509_NAME* name) {
  const int index = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
  if (index < 0) return "(no name)";
  unsigned char* bytes = nullptr;
  const int size = ASN1_STRING_to_UTF8(&bytes, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index)));
  if (size < 0) return "(no name)";
  std::string text(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  for (char& letter : text) {  // a foreign certificate may hold anything
    if (letter < ' ' || letter > '~') letter = '?';
  }
  return text;
}

sys_seconds seconds_of(const ASN1_TIME* time) {
  std::tm parts = {};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return sys_seconds(std::chrono::seconds(timegm(&parts)));
}

bool set_time(ASN1_TIME* into, sys_seconds time) {
  return ASN1_TIME_set(into, time.time_since_epoch().count()) != nullptr;
}

/// 127 random bits: above 0, and never longer than the 20 bytes that the standard allows.
bool set_serial(X509* certificate) {
  const Number number(BN_new());
  return number && BN_rand(number.get(), 127, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool set_name(X509* certificate, const std::string& name) {
  return X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0) == 1;
}

struct ExtensionText {
  int nid;
  std::string value;
};

bool add_extensions(X509* certificate, X509* issuer, const std::vector<ExtensionText>& extensions) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  for (const ExtensionText& one : extensions) {
    const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, one.nid, one.value.c_str()));
    if (!extension || X509_add_ext(certificate, extension.get(), -1) != 1) return false;
  }
  return true;
}

/// `issuer` null: it signs itself.
Result<Certificate> sign(const CertificateRequest& request, EVP_PKEY* own, X509* issuer, EVP_PKEY* issuer_key,
                         const std::vector<ExtensionText>& extensions) {
  Certificate certificate(X509_new());
  X509* const made = certificate.get();
  const bool whole =
      made != nullptr && X509_set_version(made, X509_VERSION_3) == 1 && set_serial(made) &&
      set_name(made, request.name) && set_time(X509_getm_notBefore(made), request.valid_from) &&
      set_time(X509_getm_notAfter(made), request.valid_until) && X509_set_pubkey(made, own) == 1 &&
      X509_set_issuer_name(made, X509_get_subject_name(issuer != nullptr ? issuer : made)) == 1 &&
      add_extensions(made, issuer != nullptr ? issuer : made, extensions) &&
      X509_sign(made, issuer_key, EVP_sha256()) > 0;
  if (!whole) return openssl_error(fmt::format("cannot make a certificate for {}", request.name));
  return certificate;
}

/// What `write` puts into a PEM block.
template <class Write>
Result<std::string> pem_text(Write write) {
  const Bio memory(BIO_new(BIO_s_mem()));
  if (!memory || write(memory.get()) != 1) return openssl_error("cannot write PEM");
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &bytes);
  return std::string(bytes, static_cast<std::size_t>(size));
}

Bio bio_of(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

}  // namespace

void PrivateKeyFree::operator()(evp_pkey_st* key) const { EVP_PKEY_free(key); }
void CertificateFree::operator()(x509_st* certificate) const { X509_free(certificate); }

Result<PrivateKey> make_private_key() {
  PrivateKey key(EVP_EC_gen("P-256"));
  if (!key) return openssl_error("cannot make a private key");
  return key;
}

Result<Certificate> sign_authority(const CertificateRequest& request, const PrivateKey& own) {
  return sign(request, own.get(), nullptr, own.get(),
              {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
               {NID_key_usage, "critical,keyCertSign,cRLSign"},
               {NID_subject_key_identifier, "hash"}});
}

Result<Certificate> sign_node(const CertificateRequest& request, const PrivateKey& own,
                              const Certificate& authority, const PrivateKey& authority_key) {
  return sign(request, own.get(), authority.get(), authority_key.get(),
              {{NID_basic_constraints, "critical,CA:FALSE"},
               {NID_key_usage, "critical,digitalSignature"},
               {NID_ext_key_usage, "serverAuth,clientAuth"},
               {NID_subject_key_identifier, "hash"},
               {NID_authority_key_identifier, "keyid"},
               {NID_subject_alt_name, "DNS:" + request.name}});
}

Result<std::string> pem_of(const PrivateKey& key) {
  return pem_text([&](BIO* out) {
    return PEM_write_bio_PKCS8PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

Result<std::string> pem_of(const Certificate& certificate) {
  return pem_text([&](BIO* out) { return PEM_write_bio_X509(out, certificate.get()); });
}

Result<PrivateKey> read_private_key(const std::filesystem::path& file) {
  const Result<std::string> text = read_small_file(file, pem_bytes_max);
  if (!text) return text.error();
  // Without a callback of ours OpenSSL asks the terminal for a passphrase.
  bool locked = false;
  const auto no_passphrase = [](char*, int, int, void* asked) {
    *static_cast<bool*>(asked) = true;
    return -1;
  };
  PrivateKey key(PEM_read_bio_PrivateKey(bio_of(*text).get(), nullptr, no_passphrase, &locked));
  if (key) return key;
  ERR_clear_error();
  return Error{ErrorCode::corrupt, fmt::format("{}: {}", file.string(),
                                               locked ? "is locked with a passphrase, and nobody is there to "
                                                        "type it: keep the key without one"
                                                      : "holds no private key in PEM")};
}

Result<Certificate> read_certificate(const std::filesystem::path& file) {
  const Result<std::string> text = read_small_file(file, pem_bytes_max);
  if (!text) return text.error();
  Certificate certificate(PEM_read_bio_X509(bio_of(*text).get(), nullptr, nullptr, nullptr));
  if (certificate) return certificate;
  ERR_clear_error();
  return Error{ErrorCode::corrupt, fmt::format("{}: holds no certificate in PEM", file.string())};
}

CertificateFacts facts_of(const Certificate& certificate) {
  CertificateFacts facts;
  facts.subject = common_name(X509_get_subject_name(certificate.get()));
  facts.issuer = common_name(X509_get_issuer_name(certificate.get()));
  facts.valid_from = seconds_of(X509_get0_notBefore(certificate.get()));
  facts.valid_until = seconds_of(X509_get0_notAfter(certificate.get()));
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  X509_digest(certificate.get(), EVP_sha256(), digest.data(), &size);
  for (unsigned i = 0; i < size; ++i) {
    facts.fingerprint += fmt::format("{}{:02X}", i > 0 ? ":" : "", digest.at(i));
  }
  return facts;
}

bool belongs(const PrivateKey& key, const Certificate& certificate) {
  const bool same = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  return same;
}

bool signed_by(const Certificate& certificate, const Certificate& authority) {
  const bool is = X509_check_ca(authority.get()) == 1 &&
                  X509_check_issued(authority.get(), certificate.get()) == X509_V_OK &&
                  X509_verify(certificate.get(), X509_get0_pubkey(authority.get())) == 1;
  ERR_clear_error();
  return is;
}

bool may_be_a_node(const Certificate& certificate) {
  return X509_check_purpose(certificate.get(), X509_PURPOSE_SSL_SERVER, 0) == 1 &&
         X509_check_purpose(certificate.get(), X509_PURPOSE_SSL_CLIENT, 0) == 1;
}

Result<std::string> random_hex(std::size_t count) {
  std::vector<unsigned char> bytes(count);
  if (RAND_bytes(bytes.data(), static_cast<int>(count)) != 1) return openssl_error("no random numbers");
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::string utc_text(sys_seconds time) {
  const std::time_t since_1970 = time.time_since_epoch().count();
  std::tm parts = {};
  gmtime_r(&since_1970, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace thalweg::net
