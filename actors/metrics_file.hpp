#pragma once

#include "runtime/files/descriptor.hpp"

#include <thalweg/result.hpp>
#include <thalweg/run_event.hpp>

#include <cstdint>
#include <filesystem>
#include <string_view>

/// metrics.csv: a row per report, each there whole or not at all. Written by one thread, the reporter's.
namespace thalweg::actors {

class MetricsFile {
 public:
  MetricsFile() = default;

  /// A new table with nothing but its header. Fails: `io`.
  static Result<MetricsFile> create(const std::filesystem::path& file);

  /// The table of a run that goes on from `version`: rows of later versions go, and so does half a row at the
  /// end. Times of new rows begin where the last one stopped. A table that is not there is begun anew.
  /// Fails: `io`; the old table is untouched then.
  static Result<MetricsFile> reopen(const std::filesystem::path& file, std::uint64_t version);

  /// `evaluated` may be null: its column stays empty. Fails: `io`; the row is not there then.
  Status add(const Progressed& progressed, const Evaluated* evaluated);

 private:
  Status append(std::string_view text);

  std::filesystem::path path_;
  Descriptor file_;
  off_t size_ = 0;          ///< bytes of whole rows
  double wall_before_ = 0;  ///< seconds that the run took before this process
};

}  // namespace thalweg::actors
