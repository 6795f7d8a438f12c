#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

/// `thalweg keys` as people use it, and what openssl, where it is installed, says about its work.
namespace thalweg::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

/// Where the shell would find `name`; empty when it would not.
std::string find_on_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (std::error_code ignored; fs::exists(fs::path(folder) / name, ignored)) return folder + "/" + name;
  }
  return {};
}

class KeysCommandTest : public ::testing::Test {
 protected:
  Finished keys(std::vector<std::string> typed) {
    typed.insert(typed.begin(), "keys");
    return run_program(typed, {.folder = folder.path()});
  }
  void expect_refused(const std::vector<std::string>& typed, int exit_code, const std::string& message) {
    const Finished finished = keys(typed);
    EXPECT_EQ(finished.err, "thalweg: " + message + "\n");
    EXPECT_EQ(finished.exit_code, exit_code) << message;
    EXPECT_EQ(finished.out, "") << message;
  }

  TempFolder folder;
};

TEST_F(KeysCommandTest, FromAnAuthorityToANodeThatIsFine) {
  const Finished init = keys({"init", "keys"});
  EXPECT_EQ(init.exit_code, 0);
  EXPECT_EQ(init.out, "");
  EXPECT_EQ(init.err, "made the authority in keys; give each node keys with: thalweg keys node NAME\n");
  const Finished node = keys({"node", "worker-1"});
  EXPECT_EQ(node.exit_code, 0);
  EXPECT_EQ(node.out, "");
  EXPECT_EQ(node.err,
            "made the keys of worker-1 in keys/worker-1; copy that folder to its machine, and check it there "
            "with: thalweg keys check FOLDER\n");

  fs::rename(folder.path() / "keys/worker-1", folder.path() / "elsewhere");
  const Finished check = keys({"check", "elsewhere"});
  EXPECT_EQ(check.exit_code, 0);
  EXPECT_EQ(check.err, "");
  const std::string time = "[0-9-]+ [0-9:]+ UTC";
  EXPECT_THAT(check.out, MatchesRegex("subject      worker-1\n"
                                      "issuer       thalweg cluster [0-9a-f]+\n"
                                      "valid        " +
                                      time + " to " + time +
                                      "\n"
                                      "fingerprint  [0-9A-F:]+\n"
                                      "authority    [0-9A-F:]+\n"));
  const Finished authority = keys({"check", "keys"});
  EXPECT_EQ(authority.exit_code, 0);
  const std::string marker = "\nfingerprint  ";
  const std::string fingerprint = authority.out.substr(authority.out.find(marker) + marker.size());
  EXPECT_THAT(check.out, EndsWith("\nauthority    " + fingerprint));
}

TEST_F(KeysCommandTest, AnotherFolderIsNamedInWhatToTypeNext) {
  EXPECT_THAT(keys({"init", "a/b/"}).err, HasSubstr("thalweg keys node NAME --dir a/b/\n"));
  EXPECT_EQ(keys({"node", "n", "--dir", "a/b"}).exit_code, 0);
  EXPECT_EQ(keys({"check", "a/b/n"}).exit_code, 0);
}

TEST_F(KeysCommandTest, WhatIsTypedWronglyIsExplained) {
  expect_refused({}, 2, "ACTION is missing: thalweg keys needs one: see thalweg keys --help");
  expect_refused({"chek", "x"}, 2, "keys chek: is init, node or check: did you mean check?");
  expect_refused({"init"}, 2, "keys init needs a DIR: see thalweg keys --help");
  expect_refused({"node"}, 2, "keys node needs a NAME: see thalweg keys --help");
  expect_refused({"check", "x", "--dir", "y"}, 2,
                 "--dir: goes with keys node; write keys check DIR: see thalweg keys --help");
  expect_refused({"node", "n"}, 1,
                 "keys/ca.pem: no such file: make an authority with: thalweg keys init keys");
  expect_refused(
      {"check", "n"}, 1,
      "n: no such folder: make a node's keys with: thalweg keys node n --dir CLUSTER, where CLUSTER "
      "holds the authority, and copy CLUSTER/n here");
  ASSERT_EQ(keys({"init", "keys"}).exit_code, 0);
  expect_refused({"init", "keys"}, 2,
                 "keys/ca.pem: is there already, and nodes may depend on it: give another folder");
  expect_refused({"node", "a/b"}, 2,
                 "a node's name is up to 64 letters, digits, '.', '-' and '_', and begins with a letter, a "
                 "digit or '_': give another name");
  folder.write("file", "");
  expect_refused({"init", "file/keys"}, 1, "cannot make the folder file: Not a directory");
}

TEST_F(KeysCommandTest, OpensslAgrees) {
  const std::string openssl = find_on_path("openssl");
  if (openssl.empty()) GTEST_SKIP() << "openssl is not installed";
  ASSERT_EQ(keys({"init", "keys"}).exit_code, 0);
  ASSERT_EQ(keys({"node", "n1"}).exit_code, 0);
  ASSERT_EQ(keys({"init", "other"}).exit_code, 0);
  const auto run = [&](const std::vector<std::string>& typed) {
    return run_program(typed, {.folder = folder.path(), .program = openssl});
  };
  for (const std::string purpose : {"sslserver", "sslclient"}) {
    const Finished good =
        run({"verify", "-x509_strict", "-purpose", purpose, "-CAfile", "keys/n1/ca.pem", "keys/n1/node.pem"});
    EXPECT_EQ(good.exit_code, 0) << good.err;
    EXPECT_EQ(good.out, "keys/n1/node.pem: OK\n");
  }
  EXPECT_NE(run({"verify", "-CAfile", "other/ca.pem", "keys/n1/node.pem"}).exit_code, 0);
  EXPECT_EQ(run({"verify", "-verify_hostname", "n1", "-CAfile", "keys/ca.pem", "keys/n1/node.pem"}).exit_code,
            0);

  const std::string text = run({"x509", "-in", "keys/n1/node.pem", "-noout", "-text"}).out;
  EXPECT_THAT(text, HasSubstr("NIST CURVE: P-256"));
  EXPECT_THAT(text, HasSubstr("CA:FALSE"));
  const std::string of_authority = run({"x509", "-in", "keys/ca.pem", "-noout", "-text"}).out;
  EXPECT_THAT(of_authority, HasSubstr("CA:TRUE"));
  EXPECT_THAT(of_authority, HasSubstr("Certificate Sign"));

  std::string fingerprint = run({"x509", "-in", "keys/n1/node.pem", "-noout", "-fingerprint", "-sha256"}).out;
  fingerprint.erase(0, fingerprint.find('=') + 1);
  EXPECT_THAT(keys({"check", "keys/n1"}).out, HasSubstr("fingerprint  " + fingerprint));
}

}  // namespace
}  // namespace thalweg::testing
