#pragma once

#include "tools/compare/result.hpp"

#include <thalweg/result.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// What was typed behind `--methods` and `--with`, as the contestants of a comparison. Whether a method or a
/// key exists is for `load_config` to say.
namespace thalweg::compare {

/// The parts of `text` between commas that stand outside brackets of any kind and outside quotes, without
/// the spaces around them. An empty text has no parts; an empty part stays.
std::vector<std::string> split_list(std::string_view text);

/// One `--with`: settings that one method has for itself.
struct OwnSettings {
  std::string method;
  std::vector<Setting> settings;
};

/// Reads "inhad(2):train.lr=0.1,train.momentum=0".
/// Fails: `invalid` when it has another form, and for keys that would change what is compared: the data, the
/// network, the seed, the length, the machine.
Result<OwnSettings> parse_with(const std::string& text);

/// The contestants, in the order of `methods`. One with settings of its own is followed by itself with equal
/// settings, when `equal` is true.
/// Fails: `invalid` for no method, an empty one, one named twice, and own settings of a method that is not
/// among them.
Result<std::vector<Contestant>> make_contestants(const std::string& methods,
                                                 const std::vector<OwnSettings>& own, bool equal);

/// The name of a run's folder: "inhad_2-equal-seed1".
std::string folder_name(const Contestant& contestant, std::uint64_t seed);

/// Which contestant runs when, for the seed of this index: the order begins one further with each seed, so
/// that a machine that becomes slower over the hour favours none.
std::vector<std::size_t> running_order(std::size_t contestants, std::size_t seed_index);

}  // namespace thalweg::compare
