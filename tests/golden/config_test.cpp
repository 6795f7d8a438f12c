#include <thalweg/config.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

// Broken job files, each with the message it earns beside it: config/NAME.toml and config/NAME.expected. With
// THALWEG_BLESS=1 the messages are written instead of compared; read the difference before committing it.
namespace thalweg {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The job files, from the folder they are in, so that messages name the file alone.
std::vector<fs::path> broken_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(".")) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path().filename());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(BrokenJobFile, GetsTheMessageItEarns) {
  const fs::path source = environment("THALWEG_SOURCE");
  ASSERT_FALSE(source.empty()) << "THALWEG_SOURCE names the source tree; ctest sets it";
  fs::current_path(source / "tests/golden/config");
  const bool bless = environment("THALWEG_BLESS") == "1";

  const auto files = broken_files();
  EXPECT_GE(files.size(), 30U);
  for (const auto& file : files) {
    SCOPED_TRACE(file.string());
    const auto config = load_config(file, {});
    if (config.ok()) {
      ADD_FAILURE() << "was read without an error";
      continue;
    }
    EXPECT_EQ(config.error().code, ErrorCode::invalid);
    EXPECT_EQ(config.error().text.find('\n'), std::string::npos) << "a message is one line";
    const std::string message = config.error().text + "\n";
    const fs::path expected = fs::path(file).replace_extension(".expected");
    if (bless) {
      std::ofstream(expected, std::ios::binary) << message;
    } else {
      EXPECT_EQ(message, contents(expected));
    }
  }
}

}  // namespace
}  // namespace thalweg
