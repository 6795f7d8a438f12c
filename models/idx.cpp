#include "models/byte_source.hpp"
#include "models/dataset.hpp"
#include "runtime/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// IDX: two zero bytes, a type byte (0x08: unsigned bytes), the number of dimensions, each dimension as a
/// big-endian 32-bit number, then the elements in row-major order.
namespace thalweg::models {
namespace {

constexpr std::uint8_t type_unsigned_byte = 0x08;

struct IdxArray {
  std::vector<std::uint32_t> dimensions;
  std::vector<std::uint8_t> elements;
  std::size_t header_bytes = 0;
};

/// What a file is to hold, in words for its reader.
struct Contents {
  std::size_t rank;
  const char* dimensions;
  const char* remedy;  ///< when it is another file altogether
};

constexpr Contents labels_contents{1, "labels", "give the file with the labels"};
constexpr Contents images_contents{3, "images, rows, columns", "give the file with the images"};

/// "1 image", "2 images"
std::string counted(std::uint64_t count, const char* thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

Error corrupt(const std::filesystem::path& file, std::uint64_t byte, const std::string& what,
              const std::string& remedy = "fetch the file again") {
  return {ErrorCode::corrupt, fmt::format("{}: byte {}: {}: {}", file.string(), byte, what, remedy)};
}

std::string dimensions_text(std::span<const std::uint32_t> dimensions) {
  return fmt::format("{}", fmt::join(dimensions, " x "));
}

/// Reads the header and judges it.
Result<IdxArray> read_header(ByteSource& source, const std::filesystem::path& file,
                             const Contents& contents) {
  std::array<std::uint8_t, 16> header{};
  const std::size_t rank = contents.rank;
  const std::size_t size = 4 + 4 * rank;
  THALWEG_CHECK(size <= header.size(), "at most three dimensions are read");
  const auto got = source.read(std::span(header).first(size));
  if (!got) return got.error();
  if (*got == 0)
    return corrupt(file, 0, fmt::format("the file is empty: expected an IDX header of {} bytes", size));
  if ((header[0] | header[1]) != 0 || *got < 4) {
    return corrupt(file, 0,
                   fmt::format("not an IDX file: begins with {:02x}, expected 00 00 08 {:02x}",
                               fmt::join(std::span(header).first(std::min<std::size_t>(*got, 4)), " "), rank),
                   contents.remedy);
  }
  if (header[2] != type_unsigned_byte) {
    return corrupt(file, 2, fmt::format("IDX type {:#04x}: expected 0x08 (unsigned bytes)", header[2]),
                   "convert it to unsigned bytes");
  }
  if (header[3] != rank) {
    return corrupt(
        file, 3,
        fmt::format("{}: expected {} ({})", counted(header[3], "dimension"), rank, contents.dimensions),
        contents.remedy);
  }
  if (*got < size) {
    return corrupt(file, *got, fmt::format("the file ends inside its IDX header: expected {} bytes", size));
  }
  IdxArray array;
  array.header_bytes = size;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::uint8_t* at = header.data() + 4 + 4 * axis;
    array.dimensions.push_back(static_cast<std::uint32_t>(at[0]) << 24 |
                               static_cast<std::uint32_t>(at[1]) << 16 |
                               static_cast<std::uint32_t>(at[2]) << 8 | at[3]);
    if (array.dimensions.back() == 0) {
      return corrupt(file, 4 + 4 * axis,
                     fmt::format("dimension {} of {} ({}) is 0: expected at least 1", axis + 1, rank,
                                 contents.dimensions),
                     "give a file that holds samples");
    }
  }
  return array;
}

/// Elements that the header claims, or what is wrong with that many.
Result<std::size_t> claimed_elements(const IdxArray& array, const ByteSource& source,
                                     const std::filesystem::path& file) {
  const std::uint64_t bytes_at_most = source.bytes_at_most();
  std::uint64_t count = 1;
  for (const std::uint32_t dimension : array.dimensions) {
    if (count > bytes_at_most / dimension) {
      return corrupt(file, 4,
                     fmt::format("the header claims {} bytes, a file of {} bytes cannot hold them",
                                 dimensions_text(array.dimensions), source.stored_bytes()));
    }
    count *= dimension;
  }
  return static_cast<std::size_t>(count);
}

/// Reads `count` elements. A packed file may claim up to a thousand times its size, so memory grows with what
/// arrives: one allocation for most files, and never more than eight times the file or twice what came out of
/// it.
Status read_elements(ByteSource& source, std::size_t count, const std::filesystem::path& file,
                     IdxArray& array) {
  std::size_t done = 0;
  std::uint64_t room = 8 * source.stored_bytes() + 4096;
  while (done < count) {
    array.elements.resize(static_cast<std::size_t>(std::min<std::uint64_t>(count, room)));
    const auto rest = std::span(array.elements).subspan(done);
    const auto got = source.read(rest);
    if (!got) return got.error();
    done += *got;
    if (*got < rest.size()) {
      return corrupt(file, array.header_bytes + done,
                     fmt::format("the file ends: expected {} bytes ({} after the header)",
                                 array.header_bytes + count, dimensions_text(array.dimensions)));
    }
    room *= 2;
  }
  return {};
}

Result<IdxArray> read_idx(const std::filesystem::path& file, const Contents& contents) {
  auto source = ByteSource::open(file);
  if (!source) return source.error();
  auto array = read_header(*source, file, contents);
  if (!array) return array.error();
  const auto count = claimed_elements(*array, *source, file);
  if (!count) return count.error();
  if (const auto status = read_elements(*source, *count, file, *array); !status) return status.error();
  std::array<std::uint8_t, 1> surplus{};
  const auto got = source->read(surplus);
  if (!got) return got.error();
  if (*got != 0) {
    return corrupt(file, array->header_bytes + *count,
                   fmt::format("bytes follow the last element: expected the end after {}",
                               dimensions_text(array->dimensions)));
  }
  return array;
}

/// Images as the bytes they came as: a quarter of the memory of floats. A table turns them into floats.
class ByteImages final : public Dataset {
 public:
  ByteImages(IdxArray images, IdxArray labels, std::size_t classes, Normalisation normalisation)
      : shape_{1, images.dimensions[1], images.dimensions[2]},
        sample_size_(shape_[1] * shape_[2]),
        pixels_(std::move(images.elements)),
        labels_(std::move(labels.elements)),
        classes_(classes) {
    for (std::size_t byte = 0; byte < floats_.size(); ++byte) {
      floats_[byte] = (static_cast<float>(byte) / 255.0F - normalisation.mean) / normalisation.deviation;
    }
  }

  std::uint64_t size() const override { return labels_.size(); }
  std::span<const std::size_t> sample_shape() const override { return shape_; }
  std::size_t classes() const override { return classes_; }

  void read(std::span<const std::uint32_t> indices, BatchData& batch) const override {
    batch.features.resize(indices.size() * sample_size_);
    batch.labels.resize(indices.size());
    batch.samples.resize(indices.size());
    float* to = batch.features.data();
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const std::size_t index = indices[i];
      THALWEG_CHECK(index < labels_.size(), "a sample's index lies inside its data set");
      const auto from = std::span(pixels_).subspan(index * sample_size_, sample_size_);
      for (const std::uint8_t pixel : from) *to++ = floats_[pixel];
      batch.labels[i] = labels_[index];
      batch.samples[i] = index;
    }
  }

 private:
  std::array<std::size_t, 3> shape_;
  std::size_t sample_size_;
  std::vector<std::uint8_t> pixels_;
  std::vector<std::uint8_t> labels_;
  std::size_t classes_;
  std::array<float, 256> floats_{};
};

}  // namespace

Result<std::shared_ptr<const Dataset>> load_idx(const std::filesystem::path& images,
                                                const std::filesystem::path& labels, std::size_t classes,
                                                Normalisation normalisation) {
  auto label_array = read_idx(labels, labels_contents);
  if (!label_array) return label_array.error();
  const std::vector<std::uint8_t>& values = label_array->elements;
  const auto bad =
      std::find_if(values.begin(), values.end(), [&](std::uint8_t label) { return label >= classes; });
  if (bad != values.end()) {
    const auto index = static_cast<std::uint64_t>(bad - values.begin());
    return corrupt(labels, label_array->header_bytes + index,
                   fmt::format("label {} at index {}: expected less than {}", *bad, index, classes),
                   fmt::format("give the labels of a data set of {} classes", classes));
  }
  auto image_array = read_idx(images, images_contents);
  if (!image_array) return image_array.error();
  if (image_array->dimensions[0] != values.size()) {
    return corrupt(images, 4,
                   fmt::format("{}, but {} has {}: the two files do not belong together",
                               counted(image_array->dimensions[0], "image"), labels.string(),
                               counted(values.size(), "label")),
                   "take both from one data set");
  }
  return std::shared_ptr<const Dataset>(
      std::make_shared<ByteImages>(std::move(*image_array), std::move(*label_array), classes, normalisation));
}

}  // namespace thalweg::models
