#include "runtime/journal/run_log.hpp"

#include "runtime/journal/schema.hpp"
#include "runtime/journal/segments.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace thalweg::journal {
namespace fs = std::filesystem;

namespace {

constexpr const char* index_name = "index.db";

/// `text` as SQL has it.
std::string quoted(const std::string& text) {
  std::string made = "'";
  for (const char letter : text) made += letter == '\'' ? "''" : std::string(1, letter);
  return made + "'";
}

Result<Database> open_index(const fs::path& file) {
  auto made = Database::open(file, Database::Mode::create);
  if (!made) return made;
  // It can be made again at any time.
  if (auto ready = made->run("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;"); !ready)
    return ready.error();
  if (auto ready = made->run(merged_schema); !ready) return ready.error();
  return made;
}

void remove_index(const fs::path& file) {
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::error_code missing;
    fs::remove(file.string() + suffix, missing);
  }
}

std::string meta_of(const Database& segment, const char* key) {
  auto asked = segment.prepare("SELECT value FROM meta WHERE key = ?");
  if (!asked) return {};
  asked->bind(1, std::string_view(key));
  const auto row = asked->step();
  return row && *row ? asked->text(0) : std::string();
}

std::int64_t number_of(const std::string& text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

Result<RunLog> RunLog::open(const fs::path& what) {
  std::error_code error;
  RunLog log;
  if (fs::is_regular_file(what, error)) {
    log.files_ = {what};
    log.folder_ = what.parent_path();
  } else {
    const bool run_folder = fs::is_directory(what / "log", error);
    log.folder_ = run_folder ? what / "log" : what;
    if (!fs::is_directory(log.folder_, error)) {
      return Error{ErrorCode::not_found, what.string() + ": no such folder or log file"};
    }
    if (segments_in(log.folder_).empty()) {
      return Error{ErrorCode::not_found,
                   what.string() + ": holds no message log: runs write one unless log.level is \"off\""};
    }
  }
  fs::path index = log.folder_ / index_name;
  const bool here = log.files_.empty() && ::access(log.folder_.c_str(), W_OK) == 0;
  if (!here) {
    std::string name = (fs::temp_directory_path() / "thalweg-log-XXXXXX").string();
    const int fd = ::mkstemp(name.data());
    if (fd < 0) return Error{ErrorCode::io, "cannot make a temporary file for the log's index"};
    ::close(fd);
    index = log.index_ = name;
  }
  auto database = open_index(index);
  if (!database && here) {  // of another release, or damaged
    remove_index(index);
    database = open_index(index);
  }
  if (!database) return database.error();
  log.database_.emplace(std::move(*database));
  if (auto ready = log.refresh(); !ready) return ready.error();
  return log;
}

RunLog::~RunLog() {
  database_.reset();
  if (!index_.empty()) remove_index(index_);
}

Status RunLog::refresh() {
  warnings_.clear();
  std::vector<fs::path> files = files_;
  if (files.empty()) {
    for (const auto& segment : segments_in(folder_)) files.push_back(segment.file);
  }
  for (const auto& file : files) {
    if (auto taken = take_in(file); !taken) {
      (void)database_->run("ROLLBACK");
      warnings_.push_back(taken.error().text);
    }
    (void)database_->run("DETACH segment");
  }
  return {};
}

Status RunLog::take_in(const fs::path& file) {
  const auto fail = [&](const std::string& why) {
    return Error{ErrorCode::corrupt, fmt::format("{}: cannot be read: {}", file.string(), why)};
  };
  std::int64_t life = 0;
  {
    auto segment = Database::open(file, Database::Mode::read);
    if (!segment) return segment.error();
    const auto format = meta_of(*segment, "format");
    if (format.empty()) return fail("it is no message log, or it is damaged");
    if (number_of(format) != format_version) {
      return fail(
          fmt::format("it is in format {}, and this release reads format {}", format, format_version));
    }
    auto found = life_of(*segment);
    if (!found) return found.error();
    life = *found;
  }
  if (auto attached = database_->run("ATTACH " + quoted(file.string()) + " AS segment"); !attached) {
    return fail(attached.error().text);
  }
  const std::string name = quoted(file.filename().string());
  const std::string copy = fmt::format(
      "BEGIN;"
      "INSERT OR IGNORE INTO sources VALUES ({0}, {1}, 0);"
      "INSERT OR REPLACE INTO main.actors SELECT {1}, actor, name FROM segment.actors;"
      "INSERT OR REPLACE INTO main.kinds SELECT kind, name FROM segment.kinds;"
      "INSERT INTO main.records (life, type, hlc, at_ns, actor, kind, id, cause, term, incarnation, round, "
      "version, "
      "iteration, samples, bytes, span_ns, queue_us, took_ns, reason, whom) "
      "SELECT {1}, type, hlc, at_ns, actor, kind, id, cause, term, incarnation, round, version, iteration, "
      "samples, bytes, span_ns, queue_us, took_ns, reason, whom FROM segment.records "
      "WHERE n > (SELECT n FROM sources WHERE file = {0}) ORDER BY n;"
      "UPDATE sources SET n = coalesce((SELECT max(n) FROM segment.records), 0) WHERE file = {0};"
      "COMMIT;",
      name, life);
  if (auto copied = database_->run(copy); !copied) return fail(copied.error().text);
  return {};
}

Result<std::int64_t> RunLog::life_of(const Database& segment) {
  const std::array<const char*, 7> keys = {"node", "incarnation", "name", "run", "term", "pid", "release"};
  auto insertion = database_->prepare(
      "INSERT OR IGNORE INTO lives (node, incarnation, name, run, term, pid, release) VALUES (?, ?, ?, ?, ?, "
      "?, ?)");
  if (!insertion) return insertion.error();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto value = meta_of(segment, keys[i]);
    const bool text = i == 2 || i == 3 || i == 6;
    if (text) {
      insertion->bind(static_cast<int>(i) + 1, std::string_view(value));
    } else {
      insertion->bind(static_cast<int>(i) + 1, number_of(value));
    }
  }
  if (auto done = insertion->step(); !done) return done.error();
  auto asked = database_->prepare("SELECT life FROM lives WHERE node = ? AND incarnation = ? AND name = ?");
  if (!asked) return asked.error();
  asked->bind(1, number_of(meta_of(segment, "node")));
  asked->bind(2, number_of(meta_of(segment, "incarnation")));
  asked->bind(3, std::string_view(meta_of(segment, "name")));
  const auto row = asked->step();
  if (!row || !*row) return Error{ErrorCode::io, "the log's index cannot be written"};
  return asked->integer(0);
}

std::optional<std::int64_t> message_number(std::string_view id) {
  std::array<std::uint64_t, 3> parts{};
  constexpr std::array<std::string_view, 3> before = {"n", "a", ""};
  constexpr std::array<std::uint64_t, 3> limits = {0xffff, 0xfff, 0xf'ffff'ffff};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!id.starts_with(before[i])) return std::nullopt;
    id.remove_prefix(before[i].size());
    const auto read = std::from_chars(id.data(), id.data() + id.size(), parts[i]);
    if (read.ec != std::errc() || parts[i] > limits[i]) return std::nullopt;
    id.remove_prefix(static_cast<std::size_t>(read.ptr - id.data()));
    if (i + 1 == parts.size()) break;
    if (!id.starts_with('.')) return std::nullopt;
    id.remove_prefix(1);
  }
  if (!id.empty()) return std::nullopt;
  return static_cast<std::int64_t>(parts[0] << 48 | parts[1] << 36 | parts[2]);
}

}  // namespace thalweg::journal
