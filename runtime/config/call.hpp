#pragma once

#include <thalweg/result.hpp>

#include <string>
#include <string_view>
#include <vector>

/// A part of a method as it stands in a job file: a name, with its numbers in brackets where it has any. The
/// schema checks such texts when a job is read; actors/rules takes them apart again to make the rules.
namespace thalweg::config {

struct Call {
  std::string name;             ///< small letters, digits and underscores; begins with a letter
  std::vector<double> numbers;  ///< in the order in which they stand; finite
  friend bool operator==(const Call&, const Call&) = default;
};

/// Takes "quorum(3, 50)" apart, or "all", which has no numbers. Spaces may stand around every part.
/// Whether the name and the numbers mean anything is for the caller to say.
/// Fails: `invalid` with "'TEXT': why: what would be right", free of the key and of where it stands.
Result<Call> parse_call(std::string_view text);

/// The shortest text that parse_call takes apart into `call`: "all", "quorum(3, 50)".
std::string call_text(const Call& call);

}  // namespace thalweg::config
