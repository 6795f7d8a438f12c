#pragma once

#include "runtime/config/schema.hpp"
#include "runtime/config/value.hpp"

#include <thalweg/config.hpp>
#include <thalweg/result.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>

/// A Config while it is put together. load.cpp reads settings, from the job file first and then from the
/// flags; the draft takes them one by one and remembers where each came from, so that every error can say
/// whom to blame.
namespace thalweg::config {

enum class Source { preset, file, flag };

/// Where a setting stands: `place` is "job.toml:7" or "--workers 0".
struct Origin {
  Source source = Source::preset;
  std::string place;
  std::size_t order = 0;  ///< filled in by the draft: later settings have larger ones
};

/// One line of a job file, or one flag. Without a `section` it is a value outside all sections; without a
/// `key` it is something that stands where a section belongs. With an `entry` it sets that one of a table
/// only. With a `node` it is about that block of [[node]], counted from 0; without a `key`, it begins it.
struct Setting {
  std::string section;
  std::string key;
  std::string entry;
  Value value;
  Origin origin;
  std::optional<std::size_t> node = std::nullopt;
};

class Draft {
 public:
  /// Requires: settings from the file come before those from flags.
  Status apply(const Setting& setting);

  /// The whole Config: alternatives decided, the tree resolved, numbers checked against each other.
  Result<Config> finish();

 private:
  Status apply_node(const Setting& setting);
  void remember(const std::string& key, const Setting& setting);
  [[nodiscard]] Origin origin_of(const std::string& key) const;
  [[nodiscard]] Error blame(const Problem& problem) const;
  Status choose_length();
  Status choose_tree();

  Config config_;
  std::size_t applied_ = 0;                ///< settings so far
  std::map<std::string, Origin> origins_;  ///< of the keys that were set, by the last one to set each
  Config::Topology file_topology_;         ///< what the file alone says
  std::set<std::string> file_keys_;        ///< what the file sets
};

}  // namespace thalweg::config
