#include "models/dataset.hpp"
#include "tests/golden/message_list.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/models/idx_files.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

/// IDX files with one thing broken, plain and gzipped, and what their owner is told.
namespace thalweg::models {
namespace {

struct Files {
  std::string images = idx_images(2);
  std::string labels = idx_labels({3, 9});
};

class IdxMessages : public ::testing::Test {
 protected:
  /// Breaks one thing of two files that are sound.
  void add(const std::string& name, const std::function<void(Files&)>& break_one_thing) {
    Files files;
    break_one_thing(files);
    const auto loaded =
        load_idx(folder.write("images", files.images), folder.write("labels", files.labels), 10, {});
    list.add(name, loaded, ErrorCode::corrupt);
  }
  void images(const std::string& name, const std::string& bytes) {
    add(name, [&](Files& files) { files.images = bytes; });
  }
  void labels(const std::string& name, const std::string& bytes) {
    add(name, [&](Files& files) { files.labels = bytes; });
  }

  TempFolder folder;
  testing::MessageList list{folder.path()};
};

std::string with_byte(std::string bytes, std::size_t at, int value) {
  bytes[at] = static_cast<char>(value);
  return bytes;
}

TEST_F(IdxMessages, OfBrokenFiles) {
  const std::string sound = idx_images(2);
  const std::string sound_labels = idx_labels({3, 9});
  images("images: empty", "");
  images("images: one byte", std::string(1, '\0'));
  images("images: two zeros", std::string(2, '\0'));
  images("images: a PNG", "\x89PNG\r\n\x1a\n and more of it");
  images("images: a web page", "<!DOCTYPE html><html>404</html>");
  images("images: numbers in text", "5,0,0,0,255,12");
  images("images: a zip archive", "PK\x03\x04 and more of it");
  images("images: first byte not zero", with_byte(sound, 0, 1));
  images("images: second byte not zero", with_byte(sound, 1, 8));
  images("images: signed bytes", with_byte(sound, 2, 0x09));
  images("images: integers of 16 bits", with_byte(sound, 2, 0x0b));
  images("images: integers of 32 bits", with_byte(sound, 2, 0x0c));
  images("images: floats", with_byte(sound, 2, 0x0d));
  images("images: doubles", with_byte(sound, 2, 0x0e));
  images("images: no dimensions", with_byte(sound, 3, 0));
  images("images: four dimensions", with_byte(sound, 3, 4));
  images("images: 255 dimensions", with_byte(sound, 3, 255));
  images("images: labels instead", idx_labels({3, 9, 1, 2, 3, 4, 5, 6, 7, 8}));
  images("images: the magic alone", sound.substr(0, 4));
  images("images: ends inside its dimensions", sound.substr(0, 11));
  images("images: no samples", idx_header({0, 2, 3}));
  images("images: no rows", idx_header({2, 0, 3}));
  images("images: no columns", idx_header({2, 2, 0}));
  images("images: the header alone", sound.substr(0, 16));
  images("images: last byte missing", sound.substr(0, sound.size() - 1));
  images("images: half a download", idx_images(100).substr(0, 316));
  images("images: little-endian count",
         std::string("\0\0\x08\x03\x02\0\0\0\0\0\0\x02\0\0\0\x03", 16) + std::string(12, 1));
  images("images: sizes that multiply past 64 bits", idx_header({0xffffffffU, 0xffffffffU, 0xffffffffU}));
  images("images: one byte too many", sound + "x");
  images("images: two files in a row", sound + sound);
  images("images: one image more than labels", idx_images(3));
  images("images: one image less than labels", idx_images(1));
  labels("labels: empty", "");
  labels("labels: images instead", sound);
  labels("labels: floats", with_byte(sound_labels, 2, 0x0d));
  labels("labels: ends inside its header", sound_labels.substr(0, 6));
  labels("labels: none", idx_header({0}));
  labels("labels: last one missing", sound_labels.substr(0, sound_labels.size() - 1));
  labels("labels: one byte too many", sound_labels + std::string(1, '\3'));
  labels("labels: count past the file", idx_header({0xffffffffU}) + "\1\2");
  labels("labels: a class too many", idx_labels({3, 10}));
  labels("labels: counted from one", idx_labels({1, 10}));
  labels("labels: 255 for no class", idx_labels({255, 9}));
  labels("labels: one more than images", idx_labels({3, 9, 1}));
  labels("labels: text", "cat\ndog\n");
  add("both: swapped", [](Files& files) { std::swap(files.images, files.labels); });
  EXPECT_GE(list.count(), 30U);
  list.expect_golden("messages/idx.expected");
}

TEST_F(IdxMessages, OfBrokenGzipFiles) {
  const std::string plain = idx_images(2);
  const std::string sound = gzipped(plain);
  const auto cut = [&](std::size_t bytes) { return sound.substr(0, bytes); };
  const auto flipped = [&](std::size_t at, int bits) {
    return with_byte(sound, at, static_cast<unsigned char>(sound[at]) ^ bits);
  };
  const std::size_t end = sound.size();
  // A stored block, so that the bytes of these files are not up to the version of zlib.
  const std::string magic("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
  const std::string trailer(8, '\0');
  images("images: the magic alone", cut(2));
  images("images: ends inside the gzip header", cut(7));
  images("images: the gzip header alone", cut(10));
  images("images: ends inside the stream", cut(14));
  images("images: no checksum", cut(end - 8));
  images("images: half a checksum", cut(end - 6));
  images("images: no length", cut(end - 4));
  images("images: last byte missing", cut(end - 1));
  images("images: checksum damaged", flipped(end - 7, 1));
  images("images: length damaged", flipped(end - 3, 1));
  images("images: method that is not deflate", flipped(2, 1));
  images("images: reserved flags", flipped(3, 0x80));
  images("images: a name without its end", with_byte(sound, 3, 8));
  images("images: an extra field past the end", magic.substr(0, 3) + "\4" + magic.substr(4) + "\xff\xff");
  images("images: header checksum wrong", magic.substr(0, 3) + "\2" + magic.substr(4) + "xy" + trailer);
  images("images: block type that does not exist", magic + "\x07" + trailer);
  images("images: stored block with wrong lengths", magic + std::string("\1\4\0\0\0", 5) + "abcd" + trailer);
  images("images: stored block that ends early", magic + std::string("\1\x10\0\xef\xff", 5) + "ab");
  images("images: distance before the start", magic + std::string("\x03\x02\0", 3) + trailer);
  images("images: too many codes", magic + std::string("\xfd\xff\xff", 3) + trailer);
  images("images: bytes after the last member", sound + "trailing");
  images("images: zeros after the last member", sound + std::string(512, '\0'));
  images("images: second member cut", gzipped(plain.substr(0, 20)) + gzipped(plain.substr(20)).substr(0, 12));
  images("images: second member damaged",
         gzipped(plain.substr(0, 20)) + with_byte(gzipped(plain.substr(20)), 2, 7));
  images("images: holds nothing", gzipped(""));
  images("images: holds a PNG", gzipped("\x89PNG\r\n\x1a\n and more of it"));
  images("images: gzipped twice", gzipped(sound));
  images("images: holds labels", gzipped(idx_labels({3, 9, 1, 2, 3, 4, 5, 6, 7, 8})));
  images("images: holds floats", gzipped(with_byte(plain, 2, 0x0d)));
  images("images: holds half a header", gzipped(plain.substr(0, 11)));
  images("images: holds all but one byte", gzipped(plain.substr(0, plain.size() - 1)));
  images("images: holds one byte too many", gzipped(plain + "x"));
  images("images: holds no samples", gzipped(idx_header({0, 2, 3})));
  images("images: claims more than can be packed so small",
         gzipped(idx_header({60000, 1024, 1024})).append(sound));
  labels("labels: cut", gzipped(idx_labels({3, 9})).substr(0, 12));
  labels("labels: hold a class too many", gzipped(idx_labels({3, 10})));
  labels("labels: one more than images", gzipped(idx_labels({3, 9, 1})));
  EXPECT_GE(list.count(), 30U);
  list.expect_golden("messages/gzip.expected");
}

TEST_F(IdxMessages, OfFilesThatCannotBeRead) {
  const auto sound = folder.write("labels", idx_labels({3, 9}));
  list.add("images: none", load_idx(folder.path() / "none", sound, 10, {}), ErrorCode::not_found);
  list.add("labels: none", load_idx(sound, folder.path() / "none", 10, {}), ErrorCode::not_found);
  list.add("images: below a file", load_idx(folder.path() / "labels/images", sound, 10, {}), ErrorCode::io);
  std::filesystem::create_directory(folder.path() / "folder");
  list.add("images: a folder", load_idx(folder.path() / "folder", sound, 10, {}), ErrorCode::io);
  list.add("images: a name of 300 letters", load_idx(folder.path() / std::string(300, 'x'), sound, 10, {}),
           ErrorCode::io);
  list.expect_golden("messages/unreadable.expected");
}

}  // namespace
}  // namespace thalweg::models
