#pragma once

#include <thalweg/result.hpp>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

// OpenSSL's own types, so that its headers stay in the .cpp files of this folder.
struct evp_pkey_st;
struct x509_st;

/// X.509 certificates and the private keys that belong to them, as OpenSSL has them. Who signs what, and
/// where it is kept, is in keys.hpp.
namespace thalweg::net {

using std::chrono::sys_seconds;

struct PrivateKeyFree {
  void operator()(evp_pkey_st* key) const;
};
using PrivateKey = std::unique_ptr<evp_pkey_st, PrivateKeyFree>;

struct CertificateFree {
  void operator()(x509_st* certificate) const;
};
using Certificate = std::unique_ptr<x509_st, CertificateFree>;

/// What a certificate says.
struct CertificateFacts {
  std::string subject;  ///< its common name, as "node-1"
  std::string issuer;   ///< the common name of who signed it
  sys_seconds valid_from, valid_until;
  std::string fingerprint;  ///< SHA-256 of it, as `openssl x509 -fingerprint -sha256` prints it
};

/// A new key on the curve P-256. Fails: `failed`, when the system has no random numbers.
Result<PrivateKey> make_private_key();

/// What is to be signed. The serial number is random.
struct CertificateRequest {
  std::string name;  ///< the common name; for a node also its DNS name: letters, digits, '.', '-', '_'
  sys_seconds valid_from, valid_until;
};

/// The certificate of an authority, signed by its own key: it may sign nodes, and no other authorities.
Result<Certificate> sign_authority(const CertificateRequest& request, const PrivateKey& own);

/// The certificate of a node, as server and as client, for the key `own`.
Result<Certificate> sign_node(const CertificateRequest& request, const PrivateKey& own,
                              const Certificate& authority, const PrivateKey& authority_key);

Result<std::string> pem_of(const PrivateKey& key);
Result<std::string> pem_of(const Certificate& certificate);

/// Fails: `not_found`, `io`, or `corrupt` when there is none in the file, or a key that is locked with a
/// passphrase.
Result<PrivateKey> read_private_key(const std::filesystem::path& file);
Result<Certificate> read_certificate(const std::filesystem::path& file);

CertificateFacts facts_of(const Certificate& certificate);

/// Whether `key` is the private half of what `certificate` certifies.
bool belongs(const PrivateKey& key, const Certificate& certificate);

/// Whether `certificate` was signed by the key of `authority`, and `authority` may sign. Looks at no dates.
bool signed_by(const Certificate& certificate, const Certificate& authority);

/// Whether a node with `certificate` may both accept and make connections.
bool may_be_a_node(const Certificate& certificate);

/// `count` random bytes, as hexadecimal digits. Fails: `failed`.
Result<std::string> random_hex(std::size_t count);

/// "2026-11-30 17:04:05 UTC".
std::string utc_text(sys_seconds time);

}  // namespace thalweg::net
