#pragma once

#include "runtime/journal/database.hpp"

#include <thalweg/result.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// A message log, being read: the files of all nodes of a run taken together in one database with indexes, so
/// that a question is a query. Made beside them at the first reading, and brought up to date at each later
/// one. Reads the files of a run that goes on as well as those of one that was killed. FORMAT.md lists the
/// tables.
namespace thalweg::journal {

class RunLog {
 public:
  /// `what`: a run folder, a folder of log files, or one log file.
  /// Fails: `not_found`, when there are none; `io`.
  static Result<RunLog> open(const std::filesystem::path& what);

  RunLog(RunLog&&) noexcept = default;
  RunLog& operator=(RunLog&&) noexcept = default;
  ~RunLog();

  /// Takes in what has been written since. Files that cannot be read are left out, see warnings().
  Status refresh();

  /// Fails: as Database::prepare.
  [[nodiscard]] Result<Statement> prepare(std::string_view sql) const { return database_->prepare(sql); }
  /// From now on questions only: for SQL that a person has typed.
  Status forbid_writing() { return database_->forbid_writing(); }

  /// Files that are damaged, or not to be read: each with the reason.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  RunLog() = default;
  Status take_in(const std::filesystem::path& file);
  Result<std::int64_t> life_of(const Database& segment);

  std::vector<std::filesystem::path> files_;  ///< empty: whatever is in the folder
  std::filesystem::path folder_;
  std::filesystem::path index_;  ///< file of the database, when it goes with this object; empty: it stays
  std::optional<Database> database_;
  std::vector<std::string> warnings_;
};

/// A message's id as it is printed, "n3.a17.912", as a number. Nothing: it is none.
std::optional<std::int64_t> message_number(std::string_view id);

}  // namespace thalweg::journal
