#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

/// The commands that train nothing.
namespace thalweg::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

TEST(Commands, VersionIsOneLine) {
  const Finished finished = run_program({"--version"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.out, MatchesRegex("thalweg [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(finished.err, "");
}

TEST(Commands, NothingTypedIsAnsweredWithTheHelpAsAnError) {
  const Finished finished = run_program({});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(finished.err, run_program({"--help"}).out);
}

TEST(Commands, DevicesListsTheHostAndWhyOthersAreAbsent) {
  const Finished text = run_program({"devices"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, StartsWith("DEVICE"));
  EXPECT_THAT(text.out, HasSubstr("\nhost"));
  const Finished finished = run_program({"devices", "--json"});
  const auto json = nlohmann::json::parse(finished.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << finished.out;
  EXPECT_EQ(json["devices"][0]["name"], "host");
  EXPECT_GE(json["devices"][0]["cores"], 1);
  EXPECT_GT(json["devices"][0]["memory_bytes"], 0);
  EXPECT_EQ(json["schema"], 1);
}

TEST(Commands, InitWritesAJobFileThatIsUnderstood) {
  const TempFolder folder;
  const ProcessOptions here = {.folder = folder.path()};
  const Finished finished = run_program({"init"}, here);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(finished.err, "wrote job.toml; train it with: thalweg train job.toml\n");
  const std::string job = bytes_of(folder.path() / "job.toml");
  EXPECT_THAT(job, HasSubstr("# "));
  EXPECT_EQ(run_program({"train", "job.toml", "--print-config"}, here).out, job);
  EXPECT_EQ(run_program({"init", "-"}, here).out, job);

  const Finished again = run_program({"init"}, here);
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_EQ(again.err, "thalweg: job.toml: is there already: give another name, or - for stdout\n");
  EXPECT_EQ(bytes_of(folder.path() / "job.toml"), job);
}

TEST(Commands, InitSaysWhyAFileCannotBeWritten) {
  const TempFolder folder;
  const Finished finished = run_program({"init", "none/job.toml"}, {.folder = folder.path()});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(finished.err, "thalweg: cannot write none/job.toml: No such file or directory\n");
}

}  // namespace
}  // namespace thalweg::testing
