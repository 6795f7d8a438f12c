#include "runtime/net/keys.hpp"

#include "runtime/time/manual_clock.hpp"
#include "tests/support/temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

namespace thalweg::net {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

mode_t mode_of(const fs::path& path) {
  struct stat status = {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777U;
}

/// A umask for as long as it lives.
class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;
  ~Umask() { ::umask(before_); }

 private:
  mode_t before_;
};

class KeysTest : public ::testing::Test {
 protected:
  void make_cluster() {
    ASSERT_TRUE(create_authority(cluster, clock));
    const Result<fs::path> made = issue(cluster, "node-1", clock);
    ASSERT_TRUE(made) << made.error().text;
    node = *made;
  }
  /// What find_credentials says about the node's folder.
  std::string complaint() {
    const Result<Credentials> found = find_credentials(node, clock);
    return found ? "" : found.error().text;
  }

  TempFolder folder;
  fs::path cluster = folder.path() / "cluster";
  fs::path node;
  ManualClock clock{1'800'000'000'000'000};  // 2027-01-15 08:00:00 UTC
};

TEST_F(KeysTest, ANodeOfAnAuthorityPassesAllChecks) {
  make_cluster();
  EXPECT_EQ(node, cluster / "node-1");
  const Result<Credentials> found = find_credentials(node, clock);
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_EQ(found->authority, node / "ca.pem");
  EXPECT_EQ(found->certificate, node / "node.pem");
  EXPECT_EQ(found->key, node / "node.key");
  EXPECT_EQ(bytes_of(node / "ca.pem"), bytes_of(cluster / "ca.pem"));

  const Result<KeysFacts> facts = check_keys(node, clock);
  ASSERT_TRUE(facts) << facts.error().text;
  ASSERT_TRUE(facts->node);
  EXPECT_EQ(facts->node->subject, "node-1");
  EXPECT_EQ(facts->node->issuer, facts->authority.subject);
  EXPECT_THAT(facts->authority.subject, MatchesRegex("thalweg cluster [0-9a-f]{8}"));
  EXPECT_EQ(facts->authority.issuer, facts->authority.subject);
  EXPECT_EQ(utc_text(facts->node->valid_from), "2027-01-14 08:00:00 UTC");
  EXPECT_EQ(utc_text(facts->node->valid_until), "2028-01-15 08:00:00 UTC");
  EXPECT_EQ(facts->authority.valid_until - facts->authority.valid_from, std::chrono::days(3653));
  EXPECT_THAT(facts->node->fingerprint, MatchesRegex("([0-9A-F]{2}:){31}[0-9A-F]{2}"));
  EXPECT_NE(facts->node->fingerprint, facts->authority.fingerprint);

  const Result<KeysFacts> of_cluster = check_keys(cluster, clock);
  ASSERT_TRUE(of_cluster) << of_cluster.error().text;
  EXPECT_FALSE(of_cluster->node);
  EXPECT_EQ(of_cluster->authority.fingerprint, facts->authority.fingerprint);
}

TEST_F(KeysTest, AllNodesHaveTheClustersToken) {
  make_cluster();
  const Result<std::string> token = read_token(cluster);
  ASSERT_TRUE(token) << token.error().text;
  EXPECT_THAT(*token, MatchesRegex("[0-9a-f]{64}"));
  EXPECT_EQ(*read_token(node), *token);
}

TEST_F(KeysTest, ModesAreRightWhateverTheUmask) {
  for (const mode_t mask : {0000U, 0022U, 0077U, 0777U}) {
    const Umask set(mask);
    const fs::path dir = folder.path() / std::to_string(mask);
    const Result<fs::path> made = make_local_keys(dir, clock);
    ASSERT_TRUE(made) << made.error().text;
    EXPECT_EQ(*made, dir / "local");
    EXPECT_TRUE(find_credentials(*made, clock));
    for (const fs::path& open : {dir / "ca.pem", dir / "local/ca.pem", dir / "local/node.pem"}) {
      EXPECT_EQ(mode_of(open), 0644U) << open;
    }
    for (const fs::path& closed :
         {dir / "ca.key", dir / "token", dir / "local/node.key", dir / "local/token"}) {
      EXPECT_EQ(mode_of(closed), 0600U) << closed;
    }
    for (const fs::path& inner : {dir, dir / "local"}) EXPECT_EQ(mode_of(inner), 0700U) << inner;
    std::size_t entries = 0;
    for (const auto& entry : fs::recursive_directory_iterator(dir)) entries += entry.exists() ? 1 : 0;
    EXPECT_EQ(entries, 8U) << "temporary files stayed";
  }
}

TEST_F(KeysTest, LocalKeysCloseAFolderThatWasOpen) {
  fs::create_directory(cluster);
  fs::permissions(cluster, fs::perms::all);
  ASSERT_TRUE(make_local_keys(cluster, clock));
  EXPECT_EQ(mode_of(cluster), 0700U);
}

TEST_F(KeysTest, NothingIsReplaced) {
  make_cluster();
  const std::string key = bytes_of(node / "node.key");
  const Status again = create_authority(cluster, clock);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::invalid);
  EXPECT_EQ(again.error().text, (cluster / "ca.pem").string() +
                                    ": is there already, and nodes may depend on it: give another folder");
  const Result<fs::path> twice = issue(cluster, "node-1", clock);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, ErrorCode::invalid);
  EXPECT_EQ(twice.error().text, node.string() + ": is there already: give another name, or remove it first");
  EXPECT_EQ(bytes_of(node / "node.key"), key);
}

TEST_F(KeysTest, NamesThatAreNoneAreRefused) {
  make_cluster();
  const std::string longest(64, 'n');
  EXPECT_TRUE(issue(cluster, longest, clock));
  for (const std::string& name :
       {std::string(), std::string("."), std::string("../up"), std::string("a/b"), std::string("-n"),
        std::string("ca.key"), std::string("token"), std::string("a b"), std::string("n,CA:TRUE"),
        std::string("n\n"), longest + "n"}) {
    const Result<fs::path> made = issue(cluster, name, clock);
    ASSERT_FALSE(made) << name;
    EXPECT_EQ(made.error().code, ErrorCode::invalid) << name;
  }
}

TEST_F(KeysTest, WhatIsMissingIsNamedWithTheCommandThatMakesIt) {
  const Result<fs::path> none = issue(cluster, "node-1", clock);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  EXPECT_EQ(none.error().text, (cluster / "ca.pem").string() +
                                   ": no such file: make an authority with: thalweg keys init " +
                                   cluster.string());
  node = folder.path() / "n7";
  EXPECT_EQ(complaint(), node.string() +
                             ": no such folder: make a node's keys with: thalweg keys node n7 --dir CLUSTER, "
                             "where CLUSTER holds the authority, and copy CLUSTER/n7 here");
  make_cluster();
  node = cluster;
  EXPECT_EQ(complaint(), cluster.string() +
                             ": is the authority's folder, not a node's: make one with: thalweg keys node "
                             "NAME --dir " +
                             cluster.string());
  node = cluster / "node-1";
  for (const std::string name : {"token", "node.key", "node.pem", "ca.pem"}) {
    fs::remove(node / name);
    EXPECT_THAT(complaint(), HasSubstr(name + ": no such file: make a node's keys with")) << name;
  }
}

TEST_F(KeysTest, AKeyThatOthersCanReadIsRefused) {
  make_cluster();
  fs::permissions(node / "node.key", fs::perms::group_read, fs::perm_options::add);
  EXPECT_EQ(complaint(), (node / "node.key").string() +
                             ": others can read or change it (mode 0640): chmod 600 " +
                             (node / "node.key").string());
  fs::permissions(node / "token", fs::perms::others_read, fs::perm_options::add);
  const Result<std::string> token = read_token(node);
  ASSERT_FALSE(token);
  EXPECT_THAT(token.error().text, HasSubstr("chmod 600"));
  fs::permissions(cluster / "ca.key", fs::perms::others_read, fs::perm_options::add);
  const Result<fs::path> made = issue(cluster, "node-2", clock);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().text, HasSubstr("ca.key: others can read or change it (mode 0604)"));
}

TEST_F(KeysTest, PartsThatDoNotFitEachOtherAreRefused) {
  make_cluster();
  ASSERT_TRUE(issue(cluster, "node-2", clock));
  ASSERT_TRUE(create_authority(folder.path() / "other", clock));
  const auto put = [&](const fs::path& from, const fs::path& to) {
    fs::copy_file(from, to, fs::copy_options::overwrite_existing);
  };
  put(cluster / "node-2/node.key", node / "node.key");
  EXPECT_THAT(complaint(), HasSubstr("node.key: is not the key of"));
  put(cluster / "node-2/node.pem", node / "node.pem");
  EXPECT_EQ(complaint(), "");
  put(folder.path() / "other/ca.pem", node / "ca.pem");
  EXPECT_THAT(complaint(), HasSubstr("is not signed by"));

  put(cluster / "ca.pem", node / "node.pem");
  put(cluster / "ca.key", node / "node.key");
  put(cluster / "ca.pem", node / "ca.pem");
  EXPECT_THAT(complaint(), HasSubstr("is not meant for both ends of a connection"));
}

TEST_F(KeysTest, ANodeSignsNobody) {
  make_cluster();
  const fs::path false_authority = folder.path() / "false";
  fs::create_directory(false_authority);
  fs::copy_file(node / "node.pem", false_authority / "ca.pem");
  fs::copy_file(node / "node.key", false_authority / "ca.key");
  fs::copy_file(node / "token", false_authority / "token");
  const Result<fs::path> made = issue(false_authority, "node-3", clock);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().text, HasSubstr("is no authority's certificate"));
}

TEST_F(KeysTest, DatesAreChecked) {
  make_cluster();
  const ManualClock early(1'800'000'000'000'000 - 86'401'000'000);
  const Result<Credentials> too_early = find_credentials(node, early);
  ASSERT_FALSE(too_early);
  EXPECT_THAT(too_early.error().text,
              HasSubstr("is valid from 2027-01-14 08:00:00 UTC on, and here it is 2027-01-14 07:59:59 UTC: "
                        "set this machine's clock"));
  clock.advance(365 * 24h);
  EXPECT_EQ(complaint(), "");
  clock.advance(1s);
  EXPECT_THAT(complaint(), HasSubstr("node.pem: was valid until 2028-01-15 08:00:00 UTC, and it is "));
}

TEST_F(KeysTest, NoNodeOutlivesItsAuthority) {
  make_cluster();
  clock.advance(3600 * 24h);
  const Result<fs::path> late = issue(cluster, "late", clock);
  ASSERT_TRUE(late) << late.error().text;
  const Result<KeysFacts> facts = check_keys(*late, clock);
  ASSERT_TRUE(facts) << facts.error().text;
  EXPECT_EQ(facts->node->valid_until, facts->authority.valid_until);
  clock.advance(53 * 24h);
  const Result<fs::path> too_late = issue(cluster, "too_late", clock);
  ASSERT_FALSE(too_late);
  EXPECT_THAT(too_late.error().text, HasSubstr("make a new authority in another folder"));
}

TEST_F(KeysTest, FilesThatHoldSomethingElseAreRefused) {
  make_cluster();
  folder.write("cluster/node-1/token", "0123456789\n");
  const Result<std::string> token = read_token(node);
  ASSERT_FALSE(token);
  EXPECT_EQ(token.error().code, ErrorCode::corrupt);
  EXPECT_THAT(token.error().text, HasSubstr("does not hold 64 hexadecimal digits"));
  folder.write("cluster/node-1/node.pem", "hello\n");
  EXPECT_THAT(complaint(), HasSubstr("node.pem: holds no certificate in PEM: make a node's keys with"));
  folder.write("cluster/node-1/ca.pem", std::string(1U << 20, 'x'));
  EXPECT_THAT(complaint(), HasSubstr("ca.pem: holds more than 65536 bytes"));
}

TEST_F(KeysTest, AKeyWithAPassphraseIsRefusedWithoutAsking) {
  make_cluster();
  // A key locked with the passphrase "secret": openssl genpkey -algorithm ED25519 -aes256 -pass pass:secret.
  folder.write("cluster/node-1/node.key",
               "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
               "MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjknhH/eN6umgICCAAw\n"
               "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEJHT4oa0rVDp6ETTfUsI44wEQLb2\n"
               "nCpJACid1YrSc1OhP5UAS3V+fOcl1tXBocYmUkOUM8akHPjN1dKlyUHtJ/lZ/gx2\n"
               "eptROCDY8j0SsqNgPg4=\n"
               "-----END ENCRYPTED PRIVATE KEY-----\n");
  EXPECT_THAT(complaint(), HasSubstr("node.key: is locked with a passphrase"));
}

}  // namespace
}  // namespace thalweg::net
