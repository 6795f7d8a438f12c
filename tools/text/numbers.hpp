#pragma once

#include <cstdint>
#include <string>

/// Numbers as people read them. Pure: a number in, a text out; ASCII only, so that a character is a column on
/// every terminal.
namespace thalweg::text {

std::string human_count(std::uint64_t count);  ///< "1,234,567"
std::string human_short(double count);         ///< "940", "12.3k", "4.56M"
std::string human_bytes(std::uint64_t bytes);  ///< "940 B", "12.3 kB", "4.56 MB": powers of 1000
std::string human_seconds(double seconds);     ///< "0.42 s", "12.3 s"; from a minute on "2:05", "1:02:05"
std::string human_percent(double share);       ///< 0.9124 is "91.24 %"
std::string human_epochs(double epochs);       ///< "3", "0.25", "100,000"

}  // namespace thalweg::text
