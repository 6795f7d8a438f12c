#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// What somebody meant by a name that nobody knows.
namespace thalweg {

/// Letters that must be added, dropped, replaced or swapped with their neighbour to make one name of the
/// other. ("Optimal string alignment": Damerau 1964, no letter edited twice.) A name that begins with the
/// other one, three letters or longer, is 1 away: "batch_size" is meant for "batch".
std::size_t name_distance(std::string_view one, std::string_view other);

/// The largest distance at which a name as long as `name` still counts as misspelt.
std::size_t tolerated_distance(std::string_view name);

/// The name in `known` nearest to `name`, the first of equals; empty when none is near.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

}  // namespace thalweg
