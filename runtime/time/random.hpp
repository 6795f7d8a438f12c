#pragma once

#include <cstdint>
#include <vector>

/// Randomness from a seed, the same on every machine and compiler: the standard library's engines are
/// portable, its distributions are not, so the few distributions needed are here.
namespace thalweg {

/// A stream of random numbers that depends on nothing but its key. (SplitMix64: Steele, Lea, Flood, "Fast
/// splittable pseudorandom number generators", OOPSLA 2014.) Not for secrets.
class Random {
 public:
  /// Streams with different `(seed, stream, index)` are independent.
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0, std::uint64_t index = 0);

  std::uint64_t bits();
  /// Uniform in [0, bound), without bias (Lemire's rejection). Requires: bound > 0.
  std::uint64_t below(std::uint64_t bound);
  /// Uniform in [0, 1) with 53 random bits.
  double uniform();
  /// Uniform in [low, high), rounded to float.
  float uniform(float low, float high);
  /// Standard normal by the sum of twelve uniforms less six (Irwin-Hall): no libm, so the same everywhere.
  double normal();

 private:
  std::uint64_t state_;
};

/// What streams are used for; the second part of a key.
struct RandomStream {
  static constexpr std::uint64_t weights = 1, permutation = 2, synthetic = 3, augment = 4, dropout = 5;
};

/// The order in which epoch `epoch` visits `count` samples: π(seed, e), by Fisher and Yates.
std::vector<std::uint32_t> permutation(std::uint64_t seed, std::uint64_t epoch, std::uint64_t count);

}  // namespace thalweg
