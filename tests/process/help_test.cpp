#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

/// Help texts as people read them, against tests/golden/help. THALWEG_BLESS=1 rewrites the files.
namespace thalweg::testing {
namespace {

void expect_golden(const std::string& name, const std::string& text) {
  const char* source = std::getenv("THALWEG_SOURCE");
  ASSERT_NE(source, nullptr) << "THALWEG_SOURCE names the source tree";
  const auto file = std::filesystem::path(source) / "tests/golden/help" / (name + ".txt");
  if (const char* bless = std::getenv("THALWEG_BLESS"); bless != nullptr && std::string(bless) == "1") {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  EXPECT_EQ(text, bytes_of(file)) << "tools/dev bless rewrites " << file;
}

TEST(Help, OfTheProgram) {
  const Finished finished = run_program({"--help"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.err, "");
  expect_golden("thalweg", finished.out);
}

TEST(Help, OfEachCommand) {
  for (const std::string command : {"train", "launch", "node", "eval", "devices", "init", "bench", "compare",
                                    "keys", "doctor", "status", "log"}) {
    const Finished finished = run_program({command, "--help"});
    EXPECT_EQ(finished.exit_code, 0) << command;
    EXPECT_EQ(finished.err, "") << command;
    expect_golden(command, finished.out);
    EXPECT_EQ(run_program({command, "-h"}).out, finished.out);
  }
}

}  // namespace
}  // namespace thalweg::testing
