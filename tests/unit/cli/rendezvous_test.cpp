#include "tools/cli/rendezvous.hpp"

#include "tests/support/temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

namespace thalweg::cli {
namespace {

using ::testing::HasSubstr;

TEST(Rendezvous, TheAddressIsThereForAsLongAsTheRootListens) {
  const TempFolder folder;
  const pid_t self = ::getpid();
  EXPECT_EQ(address_of(folder.path(), self), std::nullopt) << "no run has begun";
  folder.write("root.json", "{\"run\": \"00ff\", \"pid\": 1, \"address\": \"here:1\", \"term\": 2}\n");
  EXPECT_EQ(address_of(folder.path(), self), std::nullopt) << "that of a root that was killed";
  EXPECT_EQ(address_of(folder.path(), 1), "here:1");
  ASSERT_TRUE(forget_address(folder.path()));
  EXPECT_EQ(address_of(folder.path(), 1), "here:1") << "another process's is left alone";

  ASSERT_TRUE(tell_address(folder.path(), "127.0.0.1:7000"));
  EXPECT_EQ(address_of(folder.path(), self), "127.0.0.1:7000");
  ASSERT_TRUE(forget_address(folder.path()));
  EXPECT_EQ(address_of(folder.path(), self), std::nullopt);
  EXPECT_EQ(bytes_of(folder.path() / "root.json"),
            "{\"run\":\"00ff\",\"pid\":" + std::to_string(self) + ",\"term\":2}\n")
      << "which run it is stays";
}

TEST(Rendezvous, WithoutAnIdentityNobodyIsTold) {
  const TempFolder folder;
  folder.write("root.json", "[");
  const Status told = tell_address(folder.path(), "127.0.0.1:7000");
  ASSERT_FALSE(told);
  EXPECT_THAT(told.error().text, HasSubstr("root.json: is no JSON object"));
  EXPECT_EQ(address_of(folder.path(), 1), std::nullopt);
}

TEST(Rendezvous, KeysAreMadeOnceAndAreTheOwnersOnly) {
  const TempFolder folder;
  const auto made = local_keys(folder.path());
  ASSERT_TRUE(made) << made.error().text;
  const std::string key = bytes_of(*made / "node.key");
  EXPECT_FALSE(key.empty());
  struct stat status {};
  ASSERT_EQ(::stat((folder.path() / "keys").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
  ASSERT_TRUE(local_keys(folder.path()));
  EXPECT_EQ(bytes_of(*local_keys(folder.path()) / "node.key"), key);
}

}  // namespace
}  // namespace thalweg::cli
