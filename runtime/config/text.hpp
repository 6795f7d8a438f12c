#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

/// How strings and numbers are written in a job file.
namespace thalweg::config {

/// Whether `text` is UTF-8 without control characters: what a job file can hold and a terminal can show.
bool is_plain_text(std::string_view text);

/// `text` as a TOML basic string, quotes included.
std::string string_text(std::string_view text);

/// `text` as an error message can show it in one line: control characters and broken UTF-8 escaped.
std::string printable(std::string_view text);

/// Whether `text` has the form HOST:PORT or [IPV6]:PORT. Whether there is such a host is for net/ to find
/// out.
bool is_address(std::string_view text);

/// The shortest TOML float that reads back as `number`.
std::string real_text(double number);

/// A duration as people write it: a number and ms, s, m or h. "90s", "1.5h". Nothing when it is none, or is
/// more than ten years.
std::optional<std::chrono::milliseconds> read_duration(std::string_view text);

/// The shortest text that reads back as `duration`.
std::string duration_text(std::chrono::milliseconds duration);

}  // namespace thalweg::config
