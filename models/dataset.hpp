#pragma once

#include "runtime/values/batch.hpp"

#include <thalweg/result.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// Samples with labels, whole in memory, read by the feeders of a node from any thread.
namespace thalweg::models {

class Dataset {
 public:
  virtual ~Dataset() = default;

  [[nodiscard]] virtual std::uint64_t size() const = 0;                         ///< samples
  [[nodiscard]] virtual std::span<const std::size_t> sample_shape() const = 0;  ///< [C, H, W]
  [[nodiscard]] virtual std::size_t classes() const = 0;

  /// Writes the samples with these indices, normalised, one after the other into `batch` (all three vectors
  /// are resized). Const and thread-safe. Requires: every index < size().
  virtual void read(std::span<const std::uint32_t> indices, BatchData& batch) const = 0;
};

struct DatasetPair {
  std::shared_ptr<const Dataset> train;
  std::shared_ptr<const Dataset> test;
};

/// How bytes become floats: (byte / 255 - mean) / deviation, per channel-less image set.
struct Normalisation {
  float mean = 0;
  float deviation = 1;
};

/// IDX files (http://yann.lecun.com/exdb/mnist: big-endian magic, dimensions, bytes), plain or gzipped;
/// `images` has three dimensions of unsigned bytes, `labels` one. Kept as bytes, normalised while reading.
/// Fails: `not_found`, `corrupt` (bad magic, type or dimensions, truncated or trailing bytes, broken gzip,
/// counts that differ, a label >= classes), `io`; the text names the file and what was expected there.
Result<std::shared_ptr<const Dataset>> load_idx(const std::filesystem::path& images,
                                                const std::filesystem::path& labels, std::size_t classes,
                                                Normalisation normalisation);

struct SyntheticOptions {
  std::uint64_t samples = 4096;
  std::size_t classes = 10;
  std::vector<std::size_t> shape = {1, 28, 28};
  double noise = 0.5;      ///< standard deviation around the centre of the class
  std::uint64_t seed = 1;  ///< of the class centres
  std::uint64_t part = 0;  ///< 0 training, 1 test: same centres, other samples
};

/// Made samples: one random centre per class, labels in turn, normal noise; every sample is a function of
/// (seed, part, index).
std::shared_ptr<const Dataset> make_synthetic(const SyntheticOptions& options);

}  // namespace thalweg::models
