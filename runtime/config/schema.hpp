#pragma once

#include "runtime/config/field.hpp"

#include <thalweg/config.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Every key of the job file, once. Loading, `--set`, printing and the nearest-name search all read this
/// table: a new key is one entry here and one member of Config.
namespace thalweg::config {

struct Key {
  std::string_view section;
  std::string_view name;
  std::string_view
      comment;  ///< one line, written above the key in a printed job file; empty: the one before it counts
  Field (*field)(Config&);
  FieldRule rule = {};
  bool left_out =
      false;  ///< the only key of a section that is printed as a comment while it is an empty text

  [[nodiscard]] std::string text() const;  ///< "train.batch"
};

/// All keys, sections together, in the order in which they are printed.
std::span<const Key> all_keys();

/// Null when there is no such key.
const Key* find_key(std::string_view section, std::string_view name);

bool is_section(std::string_view name);

/// Whether `section` stands in `name`: "sync.level.0" does in "sync.level" and in "sync".
bool is_nested(std::string_view section, std::string_view name);

/// The first section that is called `name` or is nested in it; empty when there is none.
std::string_view first_section(std::string_view name);

/// What to tell somebody who wrote a key or a section that does not exist. `section` is empty for a key
/// that stands in none.
std::string unknown_key(std::string_view section, std::string_view name);
std::string unknown_section(std::string_view name);

/// A key or keys whose value is wrong, the one to blame first, and why.
struct Problem {
  std::vector<std::string> keys;  ///< as "train.batch"
  std::string text;
};

/// Makes `config` whole: when it has a tree, workers and groups say what the tree says, and when it has none,
/// they make it. Then checks every number that can be checked without the data.
std::optional<Problem> resolve(Config& config);

/// Workers shared evenly over `groups` leaders, the larger groups first; 0 groups: right below the root.
/// Requires: groups <= workers.
TreeSpec even_tree(std::uint64_t workers, std::uint64_t groups);

}  // namespace thalweg::config
