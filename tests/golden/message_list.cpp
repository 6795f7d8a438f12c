#include "tests/golden/message_list.hpp"

#include "tests/support/temp_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace thalweg::testing {

void MessageList::add_accepted(const std::string& name) {
  ADD_FAILURE() << name << ": was read without an error";
}

void MessageList::add_refused(const std::string& name, const Error& error, ErrorCode code) {
  EXPECT_EQ(static_cast<int>(error.code), static_cast<int>(code)) << name;
  EXPECT_EQ(error.text.find('\n'), std::string::npos) << name << ": a message is one line";
  std::string message = error.text;
  for (std::size_t at; (at = message.find(folder_)) != std::string::npos;) message.erase(at, folder_.size());
  text_ += name + "\n    " + message + "\n";
  ++count_;
}

void MessageList::expect_golden(const std::filesystem::path& below_tests_golden) const {
  const char* source = std::getenv("THALWEG_SOURCE");
  ASSERT_NE(source, nullptr) << "THALWEG_SOURCE names the source tree; ctest sets it";
  const auto golden = std::filesystem::path(source) / "tests/golden" / below_tests_golden;
  const char* bless = std::getenv("THALWEG_BLESS");
  if (bless != nullptr && std::string(bless) == "1") {
    std::ofstream(golden, std::ios::binary) << text_;
  } else {
    EXPECT_EQ(text_, bytes_of(golden)) << "tools/dev bless rewrites " << golden;
  }
}

}  // namespace thalweg::testing
