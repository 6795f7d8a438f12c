#pragma once

#include <string>

namespace thalweg::doctor {

enum class Level {
  ok,
  warn,  ///< works in some clusters, or until something else happens
  fail,  ///< nodes cannot work like this
};

/// What one check found.
struct Finding {
  Level level = Level::ok;
  std::string check;   ///< what was looked at, one word: "clock"
  std::string text;    ///< what there is, or what is wrong and why
  std::string advice;  ///< what to do; empty when all is well, or the text already ends with it

  friend bool operator==(const Finding&, const Finding&) = default;
};

}  // namespace thalweg::doctor
