#pragma once

#include "runtime/config/known_call.hpp"
#include "runtime/config/value.hpp"

#include <thalweg/config.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

/// One member of a Config, whatever its type: how it takes a value, what it accepts, how it is written.
/// The table in schema.cpp points at the members; draft.cpp fills them, print.cpp writes them.
namespace thalweg::config {

static_assert(std::is_same_v<std::size_t, std::uint64_t>, "the counts of a Config are 64 bits wide");

/// Numbers by name, as `{ w1 = 2.0, w3 = 4.0 }`.
using Factors = std::vector<std::pair<std::string, double>>;

using Field = std::variant<bool*, std::uint64_t*, double*, std::string*, std::vector<std::uint64_t>*,
                           std::vector<double>*, std::vector<std::string>*, TreeSpec*,
                           std::chrono::milliseconds*, Factors*>;

/// Workers and leaders of one process: a message id has 12 bits for the actor, and feeder, scheduler and the
/// like need a few of them.
constexpr std::uint64_t workers_max = 4000;

/// What an integer may be, or each integer of a list.
struct Counts {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// What a number may be, or each number of a list or table. Never NaN or infinite.
struct Reals {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  bool above_low = false;   ///< `low` itself is not allowed
  bool below_high = false;  ///< `high` itself is not allowed
};

/// The only texts allowed.
struct Names {
  std::span<const std::string_view> known;
};

/// Any text, within limits.
struct Text {
  bool may_be_empty = true;
  bool one_folder = false;  ///< is the name of a folder, so no path
};

/// Where somebody listens: HOST:PORT or [IPV6]:PORT, or nothing.
struct Address {
  bool any_port = true;  ///< port 0 may stand for any free one
};

/// How long a duration is at least; never negative.
struct Durations {
  std::chrono::milliseconds low{0};
};

using Allowed = std::variant<std::monostate, Counts, Reals, Names, Calls, Text, Address, Durations>;

/// How a field is declared: what it accepts, and for a list whether one number stands for a list of one.
struct FieldRule {
  Allowed allowed;
  bool or_one = false;
};

/// What is wrong with a value, as "why: what would be right"; nothing when it is right.
using Complaint = std::optional<std::string>;

/// Writes `value` into `field`, unless it complains.
Complaint set_field(Field field, const Value& value, const FieldRule& rule);

/// Writes one entry of a table, and leaves the others as they are, unless it complains.
Complaint set_entry(Factors& factors, const Entry& entry, const FieldRule& rule);

/// Whether what stands in `field` is allowed.
Complaint check_field(Field field, const FieldRule& rule);

/// What stands in `field`, as TOML.
std::string field_text(Field field, const FieldRule& rule);

/// Kind of a value, with its article: "a string".
std::string kind_of(const Value& value);

/// "constant, step or cosine".
std::string list_of(std::span<const std::string_view> names);

}  // namespace thalweg::config
