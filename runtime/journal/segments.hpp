#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// The files of a message log by name: NODE-NNN.sqlite, where NNN grows.
namespace thalweg::journal {

struct Segment {
  std::filesystem::path file;
  std::string node;
  unsigned number = 0;
};

std::filesystem::path segment_path(const std::filesystem::path& folder, const std::string& node,
                                   unsigned number);

/// Those in `folder`, by node and number; of one node when it is named. Empty: there are none, or no folder.
std::vector<Segment> segments_in(const std::filesystem::path& folder, const std::string& node = {});

/// Removes the oldest files of `node` until the others take no more than `bytes_max`; the newest stays.
/// Returns how many went.
std::size_t remove_oldest(const std::filesystem::path& folder, const std::string& node,
                          std::uint64_t bytes_max);

/// `name` with what has no place in a file's name as '_'.
std::string node_file_name(const std::string& name);

}  // namespace thalweg::journal
