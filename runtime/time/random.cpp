#include "runtime/time/random.hpp"

#include "runtime/check.hpp"

#include <limits>
#include <numeric>
#include <utility>

namespace thalweg {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio, made odd

/// SplitMix64's finalizer: a bijection that spreads every bit over all others.
constexpr std::uint64_t mix(std::uint64_t bits) {
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return bits ^ bits >> 31;
}

}  // namespace

// Each part of the key is mixed before the next one joins, so that neighbouring seeds, streams and indices
// begin far apart on the one cycle that all streams share.
Random::Random(std::uint64_t seed, std::uint64_t stream, std::uint64_t index)
    : state_(mix(mix(mix(seed + golden_gamma) + stream + golden_gamma) + index + golden_gamma)) {}

std::uint64_t Random::bits() {
  state_ += golden_gamma;
  return mix(state_);
}

// Lemire, "Fast random integer generation in an interval", ACM TOMACS 2019: the high word of a product is the
// number; the few low words that would make some numbers likelier than others are drawn again.
std::uint64_t Random::below(std::uint64_t bound) {
  THALWEG_CHECK(bound > 0, "there is no number below 0");
  Wide product = Wide{bits()} * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t surplus = (0 - bound) % bound;  // 2^64 mod bound
    while (static_cast<std::uint64_t>(product) < surplus) product = Wide{bits()} * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double Random::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

float Random::uniform(float low, float high) {
  const double span = static_cast<double>(high) - static_cast<double>(low);
  return static_cast<float>(static_cast<double>(low) + span * uniform());
}

double Random::normal() {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += uniform();
  return sum;
}

std::vector<std::uint32_t> permutation(std::uint64_t seed, std::uint64_t epoch, std::uint64_t count) {
  THALWEG_CHECK(count <= std::numeric_limits<std::uint32_t>::max(), "a data set's indices fit in 32 bits");
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  Random random(seed, RandomStream::permutation, epoch);
  for (std::uint64_t left = count; left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
  return order;
}

}  // namespace thalweg
