#include "models/dataset.hpp"
#include "runtime/time/random.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/models/idx_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <sys/resource.h>

/// IDX files, sound and broken in every way that the loader promises to notice, with the words it says then.
namespace thalweg::models {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::HasSubstr;

class Idx : public testing::Test {
 protected:
  /// Loads the two files, 10 classes, bytes / 255 unchanged.
  Result<std::shared_ptr<const Dataset>> load(const std::string& images, const std::string& labels) {
    return load_idx(folder.write("images", images), folder.write("labels", labels), 10, {});
  }

  /// The error of loading them, without the folder's name in it.
  std::string error_of(const std::string& images, const std::string& labels,
                       ErrorCode code = ErrorCode::corrupt) {
    const auto dataset = load(images, labels);
    if (dataset.ok()) return "loaded";
    EXPECT_EQ(static_cast<int>(dataset.error().code), static_cast<int>(code));
    std::string text = dataset.error().text;
    const std::string prefix = folder.path().string() + "/";
    for (std::size_t at; (at = text.find(prefix)) != std::string::npos;) text.erase(at, prefix.size());
    return text;
  }
  std::string image_error(const std::string& images) { return error_of(images, idx_labels({3, 9})); }
  std::string label_error(const std::string& labels) { return error_of(idx_images(2), labels); }

  TempFolder folder;
};

TEST_F(Idx, ReadsImagesAndLabels) {
  const auto dataset = load(idx_images(3), idx_labels({3, 0, 9}));
  ASSERT_TRUE(dataset.ok()) << dataset.error().text;
  EXPECT_EQ((*dataset)->size(), 3U);
  EXPECT_EQ((*dataset)->classes(), 10U);
  EXPECT_THAT((*dataset)->sample_shape(), ElementsAre(1, 2, 3));

  BatchData batch;
  (*dataset)->read(std::array<std::uint32_t, 2>{2, 0}, batch);
  EXPECT_THAT(batch.labels, ElementsAre(9, 3));
  EXPECT_THAT(batch.samples, ElementsAre(2, 0));
  ASSERT_EQ(batch.features.size(), 12U);
  EXPECT_FLOAT_EQ(batch.features[0], 20.0F / 255.0F);
  EXPECT_FLOAT_EQ(batch.features[5], 25.0F / 255.0F);
  EXPECT_FLOAT_EQ(batch.features[6], 0.0F);
}

TEST_F(Idx, Normalises) {
  const auto images = folder.write("images", idx_images(1, 1, 2));
  const auto labels = folder.write("labels", idx_labels({0}));
  const auto dataset = load_idx(images, labels, 1, {.mean = 0.5F, .deviation = 0.25F});
  ASSERT_TRUE(dataset.ok());
  BatchData batch;
  (*dataset)->read(std::array<std::uint32_t, 1>{0}, batch);
  EXPECT_THAT(batch.features, ElementsAre(FloatEq(-2.0F), FloatEq((1.0F / 255.0F - 0.5F) / 0.25F)));
}

TEST_F(Idx, ReadsGzippedFilesWhateverTheirName) {
  const auto dataset = load(gzipped(idx_images(3)), gzipped(idx_labels({3, 0, 9})));
  ASSERT_TRUE(dataset.ok()) << dataset.error().text;
  EXPECT_EQ((*dataset)->size(), 3U);
}

TEST_F(Idx, ReadsGzipMembersInARow) {
  const std::string images = idx_images(3);
  const auto dataset =
      load(gzipped(images.substr(0, 18)) + gzipped(images.substr(18)), idx_labels({3, 0, 9}));
  EXPECT_TRUE(dataset.ok()) << dataset.error().text;
}

TEST_F(Idx, SaysWhichFileIsMissing) {
  const auto dataset = load_idx(folder.path() / "none", folder.write("labels", idx_labels({1})), 10, {});
  ASSERT_FALSE(dataset.ok());
  EXPECT_EQ(dataset.error().code, ErrorCode::not_found);
  EXPECT_EQ(dataset.error().text, "cannot read " + (folder.path() / "none").string() +
                                      ": No such file or directory: check the path");
}

TEST_F(Idx, RefusesAFolder) {
  const auto dataset = load_idx(folder.path(), folder.write("labels", idx_labels({1})), 10, {});
  ASSERT_FALSE(dataset.ok());
  EXPECT_EQ(dataset.error().code, ErrorCode::io);
  EXPECT_THAT(dataset.error().text, HasSubstr("Is a directory"));
}

TEST_F(Idx, NoticesABrokenHeader) {
  EXPECT_EQ(image_error(""),
            "images: byte 0: the file is empty: expected an IDX header of 16 bytes: fetch the file again");
  EXPECT_EQ(label_error(""),
            "labels: byte 0: the file is empty: expected an IDX header of 8 bytes: fetch the file again");
  EXPECT_EQ(image_error("\x89PNG and more of it"),
            "images: byte 0: not an IDX file: begins with 89 50 4e 47, expected 00 00 08 03: give the file "
            "with the images");
  EXPECT_EQ(image_error(std::string("\0\0", 2)),
            "images: byte 0: not an IDX file: begins with 00 00, expected 00 00 08 03: give the file with "
            "the images");
  std::string floats = idx_images(2);
  floats[2] = 0x0d;
  EXPECT_EQ(image_error(floats),
            "images: byte 2: IDX type 0x0d: expected 0x08 (unsigned bytes): convert it to unsigned bytes");
  EXPECT_EQ(image_error(idx_labels({1, 2, 3, 4, 5, 6, 7, 8, 9})),
            "images: byte 3: 1 dimension: expected 3 (images, rows, columns): give the file with the images");
  EXPECT_EQ(label_error(idx_images(2)),
            "labels: byte 3: 3 dimensions: expected 1 (labels): give the file with the labels");
  EXPECT_EQ(image_error(idx_images(2).substr(0, 11)),
            "images: byte 11: the file ends inside its IDX header: expected 16 bytes: fetch the file again");
  EXPECT_EQ(image_error(idx_header({2, 0, 3})),
            "images: byte 8: dimension 2 of 3 (images, rows, columns) is 0: expected at least 1: give a file "
            "that holds samples");
  EXPECT_EQ(
      label_error(idx_header({0})),
      "labels: byte 4: dimension 1 of 1 (labels) is 0: expected at least 1: give a file that holds samples");
}

TEST_F(Idx, NoticesWhereAFileEnds) {
  EXPECT_EQ(
      image_error(gzipped(idx_images(2).substr(0, 20))),
      "images: byte 20: the file ends: expected 28 bytes (2 x 2 x 3 after the header): fetch the file again");
  EXPECT_EQ(
      image_error(idx_images(2).substr(0, 27)),
      "images: byte 27: the file ends: expected 28 bytes (2 x 2 x 3 after the header): fetch the file again");
  EXPECT_EQ(image_error(idx_images(2) + "x"),
            "images: byte 28: bytes follow the last element: expected the end after 2 x 2 x 3: fetch the "
            "file again");
  EXPECT_EQ(label_error(gzipped(idx_labels({3, 9}) + "x")),
            "labels: byte 10: bytes follow the last element: expected the end after 2: fetch the file again");
}

TEST_F(Idx, NoticesABrokenGzipStream) {
  const std::string packed = gzipped(idx_images(2));
  EXPECT_EQ(image_error(packed.substr(0, packed.size() - 3)),
            "images: broken gzip stream after 28 unpacked bytes: the file ends in the middle: fetch the file "
            "again");
  EXPECT_EQ(
      image_error(packed.substr(0, 10)),
      "images: broken gzip stream after 0 unpacked bytes: the file ends in the middle: fetch the file again");
  std::string checksum = packed;
  checksum[checksum.size() - 6] = static_cast<char>(checksum[checksum.size() - 6] ^ 1);
  EXPECT_EQ(image_error(checksum),
            "images: broken gzip stream after 28 unpacked bytes: incorrect data check: fetch the file again");
  EXPECT_EQ(
      image_error(packed + "trailing"),
      "images: broken gzip stream after 28 unpacked bytes: incorrect header check: fetch the file again");
}

TEST_F(Idx, NoticesFilesThatDoNotBelongTogether) {
  EXPECT_EQ(error_of(idx_images(2), idx_labels({1, 2, 3})),
            "images: byte 4: 2 images, but labels has 3 labels: the two files do not belong together: take "
            "both from one data set");
  EXPECT_EQ(label_error(idx_labels({3, 10})),
            "labels: byte 9: label 10 at index 1: expected less than 10: give the labels of a data set of 10 "
            "classes");
  EXPECT_EQ(label_error(idx_labels({255, 10})),
            "labels: byte 8: label 255 at index 0: expected less than 10: give the labels of a data set of "
            "10 classes");
}

std::uint64_t peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

TEST_F(Idx, BelievesNoClaimThatTheFileCannotHold) {
  const std::uint64_t before = peak_memory_bytes();
  EXPECT_EQ(image_error(idx_header({4294967295U, 4294967295U, 4294967295U})),
            "images: byte 4: the header claims 4294967295 x 4294967295 x 4294967295 bytes, a file of 16 "
            "bytes cannot "
            "hold them: fetch the file again");
  EXPECT_THAT(image_error(gzipped(idx_header({60000, 1024, 1024}))), HasSubstr("cannot hold them"));
  EXPECT_EQ(
      image_error(idx_header({2, 1, 4}) + "1234567"),
      "images: byte 23: the file ends: expected 24 bytes (2 x 1 x 4 after the header): fetch the file again");

  // A gzipped megabyte could hold this; it does not, and only what it holds is stored.
  Random random(1);
  std::string noise = idx_header({1000, 1000, 1000});
  for (std::size_t i = 0; i < (1U << 20); ++i) noise += static_cast<char>(random.bits());
  EXPECT_THAT(image_error(gzipped(noise)),
              HasSubstr("byte 1048592: the file ends: expected 1000000016 bytes"));
  EXPECT_LT(peak_memory_bytes() - before, 200U << 20);
}

}  // namespace
}  // namespace thalweg::models
