#include "runtime/net/keys.hpp"

#include "runtime/files/new_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <sys/stat.h>
#include <tuple>
#include <utility>
#include <vector>

namespace thalweg::net {
namespace fs = std::filesystem;

namespace {

constexpr auto authority_life = std::chrono::days(3652);
constexpr auto node_life = std::chrono::days(365);
constexpr auto clocks_differ = std::chrono::days(1);
constexpr std::size_t token_bytes = 32;
constexpr std::size_t name_max = 64;  // of a common name
constexpr mode_t for_owner = 0600;
constexpr mode_t for_all = 0644;

constexpr std::array<std::string_view, 3> authority_files = {"ca.pem", "ca.key", "token"};

/// A certificate and its key, and the authority it is of: its own, or the one that signed it.
struct Pair {
  Certificate certificate;
  PrivateKey key;
};

sys_seconds now_of(const Clock& clock) {
  return sys_seconds(
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::microseconds(clock.wall_us())));
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

Error with_advice(const Error& error, const std::string& advice) {
  return {error.code, fmt::format("{}: {}", error.text, advice)};
}

/// A folder that is somebody else's looks as if nothing were in it.
Status check_may_look(const fs::path& dir) {
  std::error_code error;
  std::ignore = fs::status(dir / "ca.pem", error);
  if (error != std::errc::permission_denied) return {};
  return Error{ErrorCode::io,
               fmt::format("cannot look into {}: {}: run this as the user whose keys they are, or "
                           "give them to this one with chown -R",
                           dir.string(), error.message())};
}

std::string how_to_make_node(const fs::path& dir) {
  const std::string name = dir.has_filename() ? dir.filename().string() : "NAME";
  return fmt::format(
      "make a node's keys with: thalweg keys node {} --dir CLUSTER, where CLUSTER holds the "
      "authority, and copy CLUSTER/{} here",
      name, name);
}

Status check_only_for_owner(const fs::path& file) {
  struct stat status = {};
  if (::stat(file.c_str(), &status) != 0) {
    return Error{errno == ENOENT ? ErrorCode::not_found : ErrorCode::io,
                 fmt::format("cannot read {}: {}", file.string(), std::strerror(errno))};
  }
  if ((status.st_mode & 077U) == 0) return {};
  return Error{ErrorCode::mismatch,
               fmt::format("{}: others can read or change it (mode {:04o}): chmod 600 {}", file.string(),
                           status.st_mode & 07777U, file.string())};
}

/// `advice` is what to do about one whose time is over.
Status check_dates(const fs::path& file, const CertificateFacts& facts, sys_seconds now,
                   const std::string& advice) {
  if (now < facts.valid_from) {
    return Error{ErrorCode::mismatch,
                 fmt::format("{}: is valid from {} on, and here it is {}: set this machine's clock",
                             file.string(), utc_text(facts.valid_from), utc_text(now))};
  }
  if (now > facts.valid_until) {
    return Error{ErrorCode::mismatch, fmt::format("{}: was valid until {}, and it is {}: {}", file.string(),
                                                  utc_text(facts.valid_until), utc_text(now), advice)};
  }
  return {};
}

Status check_name(const std::string& name) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  const bool plain = !name.empty() && name.size() <= name_max &&
                     name.find_first_not_of(allowed) == std::string::npos && name[0] != '.' && name[0] != '-';
  if (!plain) {
    return Error{ErrorCode::invalid,
                 fmt::format("a node's name is up to {} letters, digits, '.', '-' and '_', and begins with a "
                             "letter, a digit or '_': give another name",
                             name_max)};
  }
  if (std::ranges::find(authority_files, name) != authority_files.end()) {
    return Error{ErrorCode::invalid,
                 fmt::format("{}: is a file of the authority: give the node another name", name)};
  }
  return {};
}

/// The key in `key_file`, which must be the owner's only and the one of `certificate`.
Result<PrivateKey> read_own_key(const fs::path& key_file, const Certificate& certificate,
                                const fs::path& certificate_file, const std::string& advice) {
  if (Status private_enough = check_only_for_owner(key_file); !private_enough) return private_enough.error();
  Result<PrivateKey> key = read_private_key(key_file);
  if (!key) return with_advice(key.error(), advice);
  if (belongs(*key, certificate)) return key;
  return Error{ErrorCode::mismatch, fmt::format("{}: is not the key of {}: {}", key_file.string(),
                                                certificate_file.string(), advice)};
}

Result<Pair> read_authority(const fs::path& dir, const Clock& clock) {
  if (Status seen = check_may_look(dir); !seen) return seen.error();
  const std::string make = fmt::format("make an authority with: thalweg keys init {}", dir.string());
  for (const std::string_view name : {"ca.pem", "ca.key"}) {
    if (is_there(dir / name)) continue;
    return Error{ErrorCode::not_found, fmt::format("{}: no such file: {}", (dir / name).string(), make)};
  }
  const std::string other = "give the folder that thalweg keys init made";
  Result<Certificate> certificate = read_certificate(dir / "ca.pem");
  if (!certificate) return with_advice(certificate.error(), other);
  const CertificateFacts facts = facts_of(*certificate);
  Status dates = check_dates(dir / "ca.pem", facts, now_of(clock),
                             "make a new authority in another folder with: thalweg keys init DIR, and keys "
                             "of it for all nodes");
  if (!dates) return dates.error();
  if (!signed_by(*certificate, *certificate)) {
    return Error{ErrorCode::mismatch,
                 fmt::format("{}: is no authority's certificate: {}", (dir / "ca.pem").string(), other)};
  }
  Result<PrivateKey> key = read_own_key(dir / "ca.key", *certificate, dir / "ca.pem", other);
  if (!key) return key.error();
  return Pair{std::move(*certificate), std::move(*key)};
}

Status check_complete(const fs::path& dir) {
  if (Status seen = check_may_look(dir); !seen) return seen;
  std::error_code ignored;
  if (!fs::is_directory(dir, ignored)) {
    return Error{ErrorCode::not_found,
                 fmt::format("{}: no such folder: {}", dir.string(), how_to_make_node(dir))};
  }
  if (is_there(dir / "ca.key") && !is_there(dir / "node.pem")) {
    return Error{ErrorCode::mismatch,
                 fmt::format("{}: is the authority's folder, not a node's: make one with: thalweg keys node "
                             "NAME --dir {}",
                             dir.string(), dir.string())};
  }
  for (const std::string_view name : {"ca.pem", "node.pem", "node.key", "token"}) {
    if (is_there(dir / name)) continue;
    return Error{ErrorCode::not_found,
                 fmt::format("{}: no such file: {}", (dir / name).string(), how_to_make_node(dir))};
  }
  return {};
}

Result<KeysFacts> check_node(const fs::path& dir, const Clock& clock) {
  if (Status complete = check_complete(dir); !complete) return complete.error();
  const fs::path authority_file = dir / "ca.pem";
  const fs::path node_file = dir / "node.pem";
  const std::string make = how_to_make_node(dir);
  const Result<Certificate> authority = read_certificate(authority_file);
  if (!authority) return with_advice(authority.error(), make);
  const Result<Certificate> node = read_certificate(node_file);
  if (!node) return with_advice(node.error(), make);
  const Result<PrivateKey> key = read_own_key(dir / "node.key", *node, node_file, make);
  if (!key) return key.error();
  if (!signed_by(*node, *authority)) {
    return Error{ErrorCode::mismatch,
                 fmt::format("{}: is not signed by {}: the two are of different clusters: {}",
                             node_file.string(), authority_file.string(), make)};
  }
  if (!may_be_a_node(*node)) {
    return Error{ErrorCode::mismatch,
                 fmt::format("{}: is not meant for both ends of a connection: {}", node_file.string(), make)};
  }
  const KeysFacts facts = {facts_of(*authority), facts_of(*node)};
  const sys_seconds now = now_of(clock);
  const std::string renew = "remove the folder where it was made, and " + make;
  if (Status dates = check_dates(node_file, *facts.node, now, renew); !dates) return dates.error();
  const std::string anew = "make a new authority with: thalweg keys init DIR, and keys of it for all nodes";
  if (Status dates = check_dates(authority_file, facts.authority, now, anew); !dates) return dates.error();
  return facts;
}

struct NewFile {
  fs::path file;
  std::string text;
  mode_t mode;
};

Status write_all_new(const std::vector<NewFile>& files) {
  for (const NewFile& one : files) {
    Status written = write_new_file(one.file, one.text, one.mode);
    if (!written && written.error().code == ErrorCode::busy) {
      return Error{ErrorCode::invalid, written.error().text};
    }
    if (!written) return written;
  }
  return {};
}

/// Signs with `sign` a key of its own.
template <class Sign>
Result<std::pair<std::string, std::string>> key_and_certificate(Sign sign) {
  const Result<PrivateKey> key = make_private_key();
  if (!key) return key.error();
  const Result<Certificate> certificate = sign(*key);
  if (!certificate) return certificate.error();
  Result<std::string> key_text = pem_of(*key);
  if (!key_text) return key_text.error();
  Result<std::string> certificate_text = pem_of(*certificate);
  if (!certificate_text) return certificate_text.error();
  return std::pair(std::move(*key_text), std::move(*certificate_text));
}

}  // namespace

Status create_authority(const fs::path& dir, const Clock& clock) {
  for (const std::string_view name : authority_files) {
    if (!is_there(dir / name)) continue;
    return Error{ErrorCode::invalid,
                 fmt::format("{}: is there already, and nodes may depend on it: give another folder",
                             (dir / name).string())};
  }
  const Result<std::string> token = random_hex(token_bytes);
  if (!token) return token.error();
  // Clusters are told apart by it where two certificates are shown beside each other.
  const Result<std::string> mark = random_hex(4);
  if (!mark) return mark.error();
  const sys_seconds now = now_of(clock);
  const auto made = key_and_certificate([&](const PrivateKey& own) {
    return sign_authority({"thalweg cluster " + *mark, now - clocks_differ, now + authority_life}, own);
  });
  if (!made) return made.error();
  if (Status folder = make_private_folder(dir); !folder) return folder;
  return write_all_new({{dir / "token", *token + "\n", for_owner},
                        {dir / "ca.key", made->first, for_owner},
                        {dir / "ca.pem", made->second, for_all}});
}

Result<fs::path> issue(const fs::path& dir, const std::string& name, const Clock& clock) {
  if (Status right = check_name(name); !right) return right.error();
  const Result<Pair> authority = read_authority(dir, clock);
  if (!authority) return authority.error();
  const Result<std::string> token = read_token(dir);
  if (!token) return token.error();
  const Result<std::string> authority_text = pem_of(authority->certificate);
  if (!authority_text) return authority_text.error();
  const fs::path folder = dir / name;
  if (is_there(folder)) {
    return Error{ErrorCode::invalid,
                 fmt::format("{}: is there already: give another name, or remove it first", folder.string())};
  }
  const sys_seconds now = now_of(clock);
  const sys_seconds until = std::min(now + node_life, facts_of(authority->certificate).valid_until);
  const auto made = key_and_certificate([&](const PrivateKey& own) {
    return sign_node({name, now - clocks_differ, until}, own, authority->certificate, authority->key);
  });
  if (!made) return made.error();
  if (Status there = make_private_folder(folder); !there) return there.error();
  const Status written = write_all_new({{folder / "ca.pem", *authority_text, for_all},
                                        {folder / "token", *token + "\n", for_owner},
                                        {folder / "node.key", made->first, for_owner},
                                        {folder / "node.pem", made->second, for_all}});
  if (!written) return written.error();
  return folder;
}

Result<fs::path> make_local_keys(const fs::path& dir, const Clock& clock) {
  if (Status there = make_private_folder(dir); !there) return there.error();
  if (::chmod(dir.c_str(), 0700) != 0) {
    return Error{ErrorCode::io,
                 fmt::format("cannot keep {} from others: {}", dir.string(), std::strerror(errno))};
  }
  if (Status authority = create_authority(dir, clock); !authority) return authority.error();
  return issue(dir, "local", clock);
}

Result<Credentials> find_credentials(const fs::path& dir, const Clock& clock) {
  if (const auto checked = check_node(dir, clock); !checked) return checked.error();
  return Credentials{dir / "ca.pem", dir / "node.pem", dir / "node.key"};
}

Result<std::string> read_token(const fs::path& dir) {
  const fs::path file = dir / "token";
  const std::string advice = "copy it from the cluster's folder, where thalweg keys init made it";
  Result<std::string> text = read_small_file(file, 4096);
  if (!text) return with_advice(text.error(), advice);
  if (Status private_enough = check_only_for_owner(file); !private_enough) return private_enough.error();
  text->erase(text->find_last_not_of(" \r\n") + 1);
  const bool right =
      text->size() == 2 * token_bytes && text->find_first_not_of("0123456789abcdef") == std::string::npos;
  if (right) return text;
  return Error{ErrorCode::corrupt, fmt::format("{}: does not hold {} hexadecimal digits: {}", file.string(),
                                               2 * token_bytes, advice)};
}

Result<KeysFacts> check_keys(const fs::path& dir, const Clock& clock) {
  const bool of_authority = is_there(dir / "ca.key") && !is_there(dir / "node.pem");
  Result<KeysFacts> facts = KeysFacts{};
  if (of_authority) {
    const Result<Pair> authority = read_authority(dir, clock);
    if (!authority) return authority.error();
    facts->authority = facts_of(authority->certificate);
  } else {
    facts = check_node(dir, clock);
    if (!facts) return facts;
  }
  if (const auto token = read_token(dir); !token) return token.error();
  return facts;
}

}  // namespace thalweg::net
