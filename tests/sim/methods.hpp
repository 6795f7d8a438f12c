#pragma once

#include <thalweg/config.hpp>

#include <cstdint>
#include <string>

/// Which synchronization method the job of a seed has, with its numbers and options.
namespace thalweg::sim {

/// Draws them, from a stream of their own. Requires: the rest of `config` is drawn.
void draw_method(std::uint64_t seed, Config& config);

/// The method and what overrides it, in a few words.
std::string method_text(const Config& config);

}  // namespace thalweg::sim
