#pragma once

#include "runtime/time/random.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace thalweg::fuzz {

using Bytes = std::vector<std::uint8_t>;

/// An input made of entries of the corpus by one to four small changes: flipped bits, other bytes, a piece
/// cut out, doubled or taken from another entry, an integer that readers stumble over. Depends on its
/// arguments alone. Requires: a corpus with an entry. The result has at most `size_max` bytes.
Bytes mutate(std::span<const Bytes> corpus, Random& random, std::size_t size_max);

}  // namespace thalweg::fuzz
