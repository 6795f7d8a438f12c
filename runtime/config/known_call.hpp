#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// The methods and parts of methods that a job file may name, and how many numbers each takes. schema.cpp
/// says which of the lists belongs to which key. A new method is one line here and its preset in
/// actors/rules.
namespace thalweg::config {

/// What a number in brackets may be.
struct CallNumber {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  bool whole = true;  ///< without a fraction
};

struct KnownCall {
  std::string_view written;             ///< "quorum(q, grace_ms)": its name, its numbers in words
  std::span<const CallNumber> numbers;  ///< one for each of the words
  bool may_go_without = false;          ///< the numbers may be left out, all of them

  [[nodiscard]] std::string_view name() const { return written.substr(0, written.find('(')); }
};

/// A text that names one of `known`.
struct Calls {
  std::span<const KnownCall> known;
  bool may_be_empty = true;
};

std::span<const KnownCall> known_methods();
std::span<const KnownCall> known_locals();
std::span<const KnownCall> known_paces();
std::span<const KnownCall> known_root_triggers();
std::span<const KnownCall> known_leader_triggers();
std::span<const KnownCall> known_adopts();
std::span<const KnownCall> known_pulls();

/// What is wrong with `text`, as "why: what would be right", with the nearest name where one is near; nothing
/// when it is right. Requires: `text` is plain text.
std::optional<std::string> check_call(std::string_view text, const Calls& allowed);

}  // namespace thalweg::config
