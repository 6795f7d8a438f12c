#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

/// Checks for bugs. A failed check prints where and what, and ends the process, in release builds too:
/// a runtime that goes on with a broken invariant trains a wrong model. Expected failures (peers, files,
/// devices, users) never come here; they are `Result`s.
namespace thalweg {

[[noreturn]] inline void check_failed(const char* file, int line, const char* condition,
                                      std::string_view text) {
  std::fprintf(stderr, "thalweg: bug at %s:%d: %s: %.*s\n", file, line, condition,
               static_cast<int>(text.size()), text.data());
  std::abort();
}

}  // namespace thalweg

/// Ends the process unless `condition` holds; `text` says what must be true, in words.
#define THALWEG_CHECK(condition, text)                                 \
  do {                                                                 \
    if (!(condition)) [[unlikely]]                                     \
      ::thalweg::check_failed(__FILE__, __LINE__, #condition, (text)); \
  } while (false)
