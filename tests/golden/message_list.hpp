#pragma once

#include <thalweg/result.hpp>

#include <cstddef>
#include <filesystem>
#include <string>

namespace thalweg::testing {

/// What is said about many broken inputs of one kind, against the golden file that keeps it: of each input
/// its name, and below it the message. With THALWEG_BLESS=1 the file is written instead of compared; read the
/// difference before committing it.
class MessageList {
 public:
  /// `inputs` are made in this folder; messages name them without it.
  explicit MessageList(const std::filesystem::path& folder) : folder_(folder.string() + "/") {}

  /// Takes in the answer to the input `name`. It has to be an error of this kind.
  template <class T>
  void add(const std::string& name, const Result<T>& answer, ErrorCode code) {
    if (answer.ok()) {
      add_accepted(name);
    } else {
      add_refused(name, answer.error(), code);
    }
  }

  /// Requires: THALWEG_SOURCE names the source tree; ctest sets it.
  void expect_golden(const std::filesystem::path& below_tests_golden) const;

  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  void add_accepted(const std::string& name);
  void add_refused(const std::string& name, const Error& error, ErrorCode code);

  std::string folder_;
  std::string text_;
  std::size_t count_ = 0;
};

}  // namespace thalweg::testing
