#pragma once

#include "runtime/journal/record.hpp"

#include <thalweg/result.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

/// A node's message log, being written: takes records from any thread without making it wait, and writes them
/// to SQLite files from a thread of its own. FORMAT.md says what is in the files. What was added more than
/// `flush` ago is in them, whatever happens to the process.
namespace thalweg::journal {

class Journal {
 public:
  struct Options {
    std::filesystem::path folder;  ///< made unless it is there
    std::string node;              ///< begins the names of its files: "n0"; letters, digits, '-', '_'
    std::uint64_t bytes_max = std::uint64_t{512} << 20;     ///< of all its files; the oldest go first
    std::uint64_t segment_bytes = std::uint64_t{64} << 20;  ///< of each
    std::chrono::milliseconds flush{100};
    std::map<std::string, std::string> meta;  ///< what else the files say of the node: run, name, release
    std::function<std::string(unsigned)> kind_of;  ///< name of a kind of message; empty: they have none
    /// Called on the writer's thread before it writes: for what is told about rather than added. May be
    /// empty.
    std::function<void()> before_flush = {};
  };
  struct Counts {
    std::uint64_t written = 0, lost = 0;
    std::uint64_t segments_removed = 0;
  };

  /// Fails: `io`, when the folder or the first file cannot be made.
  static Result<std::unique_ptr<Journal>> open(Options options);
  /// Writes what is there, and closes.
  ~Journal();

  /// Any thread; never blocks. What finds its ring full is lost, counted, and the log says so.
  void add(const Record& record) noexcept;
  /// With words that are not known beforehand, in the place of the sentence. For what is rare: takes a lock.
  void add(const Record& record, std::string_view text);
  /// What an actor is called from now on. Likewise.
  void name(std::uint16_t actor, std::string_view name);

  [[nodiscard]] Counts counts() const;
  /// Why nothing is written any more, as on a full disk; empty: all is well.
  [[nodiscard]] std::string failure() const;

 private:
  struct State;
  explicit Journal(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace thalweg::journal
