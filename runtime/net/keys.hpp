#pragma once

#include "runtime/net/certificate.hpp"
#include "runtime/net/credentials.hpp"
#include "runtime/time/clock.hpp"

#include <thalweg/result.hpp>

#include <filesystem>
#include <optional>
#include <string>

/// Keys of a cluster, as files. One folder holds the authority, which signs nodes; each node is given a
/// folder that it needs nothing else beside:
///
///     DIR/ca.pem ca.key token             the authority; ca.key stays where it was made
///     DIR/NAME/ca.pem node.pem node.key token
///
/// Private keys and the token are readable by their owner only, from the moment they exist, and nothing that
/// is there is ever replaced. `thalweg keys` calls this for people, `thalweg launch` for a run on one
/// machine; nodes read their folder once, when they start. Everything here blocks on the disk.
///
/// The clock says what time it is: nothing is valid before and after its dates.
namespace thalweg::net {

/// Makes the authority of a new cluster in `dir`, and `dir` itself where it is missing (mode 0700): a key on
/// P-256, a certificate for ten years, and the token, 32 random bytes. What it signs is valid from a day ago,
/// since clocks differ.
/// Fails: `invalid` when one of the files is there already; `io`; `failed` without random numbers.
Status create_authority(const std::filesystem::path& dir, const Clock& clock = SteadyClock());

/// Makes the keys of the node `name`, signed by the authority in `dir`, valid for a year, and returns their
/// folder, dir/name (mode 0700). A folder that an interrupted call left incomplete has to be removed first.
/// Fails: `invalid` for a name that is none, or that has keys already; `not_found` without an authority;
/// `mismatch` when its key, certificate or dates are wrong; `io`.
Result<std::filesystem::path> issue(const std::filesystem::path& dir, const std::string& name,
                                    const Clock& clock = SteadyClock());

/// An authority and one node, for the processes of one machine that all are the same user's. Returns the
/// node's folder, dir/local; `dir` has mode 0700 afterwards. Fails: as the two above.
Result<std::filesystem::path> make_local_keys(const std::filesystem::path& dir,
                                              const Clock& clock = SteadyClock());

/// The credentials in a node's folder, after checking that they are complete, fit each other, are valid now
/// and are nobody else's to read.
/// Fails: `not_found`, `io`, `corrupt`, `mismatch`; each says what to type to mend it.
Result<Credentials> find_credentials(const std::filesystem::path& dir, const Clock& clock = SteadyClock());

/// What members of a cluster show each other, 64 hexadecimal digits. `dir` is a node's folder or the
/// authority's. Fails: `not_found`, `io`, `corrupt`, `mismatch` when others can read it.
Result<std::string> read_token(const std::filesystem::path& dir);

/// What is in a folder of keys that passed all checks.
struct KeysFacts {
  CertificateFacts authority;
  std::optional<CertificateFacts> node;  ///< none: it is the authority's folder
};

/// Checks a node's folder as find_credentials and read_token do, or the authority's. Fails: as they do.
Result<KeysFacts> check_keys(const std::filesystem::path& dir, const Clock& clock = SteadyClock());

}  // namespace thalweg::net
