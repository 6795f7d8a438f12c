#include "runtime/journal/segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <tuple>

namespace thalweg::journal {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view extension = ".sqlite";

bool is_plain(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '-' || letter == '_';
}

/// With what SQLite keeps beside it.
std::uint64_t bytes_of(const fs::path& file) {
  std::uint64_t bytes = 0;
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::error_code missing;
    const auto size = fs::file_size(file.string() + suffix, missing);
    if (!missing) bytes += size;
  }
  return bytes;
}

}  // namespace

fs::path segment_path(const fs::path& folder, const std::string& node, unsigned number) {
  return folder / fmt::format("{}-{:03}{}", node, number, extension);
}

std::vector<Segment> segments_in(const fs::path& folder, const std::string& node) {
  std::vector<Segment> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.ends_with(extension)) continue;
    const std::string_view stem = std::string_view(name).substr(0, name.size() - extension.size());
    const auto dash = stem.rfind('-');
    if (dash == std::string_view::npos || dash == 0) continue;
    Segment segment{at->path(), std::string(stem.substr(0, dash)), 0};
    const char* end = stem.data() + stem.size();
    const auto read = std::from_chars(stem.data() + dash + 1, end, segment.number);
    if (read.ec != std::errc() || read.ptr != end) continue;
    if (node.empty() || segment.node == node) found.push_back(std::move(segment));
  }
  std::sort(found.begin(), found.end(), [](const Segment& a, const Segment& b) {
    return std::tie(a.node, a.number) < std::tie(b.node, b.number);
  });
  return found;
}

std::size_t remove_oldest(const fs::path& folder, const std::string& node, std::uint64_t bytes_max) {
  const auto all = segments_in(folder, node);
  std::uint64_t bytes = 0;
  for (const auto& segment : all) bytes += bytes_of(segment.file);
  std::size_t removed = 0;
  while (bytes > bytes_max && removed + 1 < all.size()) {
    const auto& file = all[removed++].file;
    bytes -= std::min(bytes, bytes_of(file));
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::error_code missing;
      fs::remove(file.string() + suffix, missing);
    }
  }
  return removed;
}

std::string node_file_name(const std::string& name) {
  std::string plain = name.empty() ? "node" : name;
  std::replace_if(
      plain.begin(), plain.end(), [](char letter) { return !is_plain(letter); }, '_');
  return plain;
}

}  // namespace thalweg::journal
