#include "models/dataset.hpp"
#include "tests/fuzz/memory_file.hpp"
#include "tests/fuzz/message.hpp"
#include "tests/support/gzip.hpp"

#include <algorithm>
#include <numeric>

/// Images and labels. An input is a byte whose two low bits say which of the two files is gzipped, a byte
/// with the length of the labels' file, that file, and the images' file. A pair that loads must be a data set
/// through and through: as many samples as it says, all of them readable, in any order, with labels that the
/// model knows.
namespace thalweg::fuzz {
namespace {

constexpr std::size_t classes = 10;
constexpr std::uint64_t read_at_once_max = 1U << 20;  // floats

void check_samples(const models::Dataset& dataset) {
  THALWEG_CHECK(dataset.size() > 0, "a data set has samples");
  THALWEG_CHECK(dataset.classes() == classes, "a data set has the classes it was loaded with");
  const auto shape = dataset.sample_shape();
  THALWEG_CHECK(shape.size() == 3 && shape[0] == 1, "an image has one channel");
  const std::size_t pixels = shape[1] * shape[2];
  THALWEG_CHECK(pixels > 0, "an image has pixels");

  const std::size_t step = std::max<std::size_t>(1, read_at_once_max / pixels);
  BatchData batch;
  for (std::uint64_t begin = 0; begin < dataset.size(); begin += step) {
    std::vector<std::uint32_t> indices(std::min<std::uint64_t>(step, dataset.size() - begin));
    std::iota(indices.rbegin(), indices.rend(), static_cast<std::uint32_t>(begin));
    dataset.read(indices, batch);
    THALWEG_CHECK(batch.features.size() == indices.size() * pixels, "every pixel is read");
    THALWEG_CHECK(batch.labels.size() == indices.size() && batch.samples.size() == indices.size(),
                  "every sample has a label and an index");
    for (const auto label : batch.labels) {
      THALWEG_CHECK(label >= 0 && static_cast<std::size_t>(label) < classes, "a label is a class");
    }
    for (const float feature : batch.features) {
      THALWEG_CHECK(feature >= 0 && feature <= 1, "a byte becomes a number from 0 to 1");
    }
  }
}

void write(MemoryFile& file, std::span<const std::uint8_t> bytes, bool packed) {
  if (packed) {
    file.write(gzip_member(bytes));
  } else {
    file.write(bytes);
  }
}

}  // namespace
}  // namespace thalweg::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace thalweg;
  static fuzz::MemoryFile images("images");
  static fuzz::MemoryFile labels("labels");
  if (size < 2) return 0;
  const std::span rest(data + 2, size - 2);
  const std::size_t split = std::min<std::size_t>(data[1], rest.size());
  fuzz::write(labels, rest.first(split), (data[0] & 1U) != 0);
  fuzz::write(images, rest.subspan(split), (data[0] & 2U) != 0);
  const auto dataset = models::load_idx(images.path(), labels.path(), fuzz::classes, {});
  if (dataset.ok()) {
    fuzz::check_samples(**dataset);
  } else {
    THALWEG_CHECK(dataset.error().code == ErrorCode::corrupt, "bytes can only be corrupt");
    fuzz::check_message(dataset.error(), "/proc/self/fd/");
  }
  return 0;
}
