#pragma once

#include <thalweg/result.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

/// SQLite, as far as the message log needs it: the only place that knows its C interface. A database is used
/// by one thread at a time.
namespace thalweg::journal {

/// A value of a row.
struct Cell {
  enum class Type { null, integer, real, text } type = Type::null;
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
};

class Database;

/// A statement that is prepared once and run many times. Outlived by its database.
class Statement {
 public:
  Statement() = default;
  Statement(Statement&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Statement& operator=(Statement&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Statement();

  // Parameters are numbered from 1, columns from 0.
  void bind(int parameter, std::int64_t value);
  void bind_null(int parameter);
  void bind(int parameter, std::string_view text);  ///< copied

  /// To the next row, or the end; runs what is no query. Fails: `corrupt` for a damaged file, else `io`.
  Result<bool> step();
  void reset();

  [[nodiscard]] int columns() const;
  [[nodiscard]] std::string column_name(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] Cell cell(int column) const;

 private:
  friend class Database;
  void* raw_ = nullptr;
};

class Database {
 public:
  enum class Mode { create, write, read };

  /// Fails: `not_found` and `io`; `corrupt`, when it is no database.
  static Result<Database> open(const std::filesystem::path& file, Mode mode);
  static Result<Database> in_memory();

  Database(Database&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Database& operator=(Database&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Database();

  /// Runs statements that give no rows. Fails: as Statement::step; `invalid` for what is no SQL.
  Status run(const std::string& sql);
  /// Fails: `invalid` for what is no SQL, or names what is not there.
  Result<Statement> prepare(std::string_view sql) const;
  /// Nobody may change anything through this any more.
  Status forbid_writing();

  /// Of the database itself, without its write-ahead log.
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  Database() = default;
  void* raw_ = nullptr;
};

}  // namespace thalweg::journal
