#pragma once

#include "runtime/check.hpp"
#include "runtime/config/text.hpp"

#include <thalweg/result.hpp>

#include <string>

namespace thalweg::fuzz {

/// What holds for the message of every refused file, whatever its bytes are: a terminal can show it in one
/// line, it names the file, and it does not repeat a megabyte of foreign bytes.
inline void check_message(const Error& error, const std::string& file) {
  THALWEG_CHECK(config::is_plain_text(error.text),
                "a message is one line of UTF-8 without control characters");
  THALWEG_CHECK(error.text.find(file) != std::string::npos, "a message names the file");
  THALWEG_CHECK(error.text.size() < 4096, "a message can be read");
}

}  // namespace thalweg::fuzz
