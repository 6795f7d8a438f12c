#include "runtime/journal/database.hpp"

#include <sqlite3.h>

#include <system_error>
#include <utility>

namespace thalweg::journal {
namespace fs = std::filesystem;

namespace {

sqlite3* db(void* raw) { return static_cast<sqlite3*>(raw); }
sqlite3_stmt* statement(void* raw) { return static_cast<sqlite3_stmt*>(raw); }

ErrorCode code_of(int sqlite) {
  switch (sqlite & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::corrupt;
    case SQLITE_ERROR:
    case SQLITE_MISUSE:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      return ErrorCode::invalid;
    default:
      return ErrorCode::io;
  }
}

Error error_of(sqlite3* database, int sqlite) {
  return {code_of(sqlite), database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(sqlite)};
}

constexpr int busy_ms = 5000;

}  // namespace

// -- a statement

Statement::~Statement() { sqlite3_finalize(statement(raw_)); }

void Statement::bind(int parameter, std::int64_t value) {
  sqlite3_bind_int64(statement(raw_), parameter, value);
}
void Statement::bind_null(int parameter) { sqlite3_bind_null(statement(raw_), parameter); }
void Statement::bind(int parameter, std::string_view text) {
  sqlite3_bind_text(statement(raw_), parameter, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

Result<bool> Statement::step() {
  const int result = sqlite3_step(statement(raw_));
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  return error_of(sqlite3_db_handle(statement(raw_)), result);
}
void Statement::reset() { sqlite3_reset(statement(raw_)); }

int Statement::columns() const { return sqlite3_column_count(statement(raw_)); }
std::string Statement::column_name(int column) const { return sqlite3_column_name(statement(raw_), column); }
std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement(raw_), column); }
double Statement::real(int column) const { return sqlite3_column_double(statement(raw_), column); }
std::string Statement::text(int column) const {
  const auto* text = sqlite3_column_text(statement(raw_), column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<std::size_t>(sqlite3_column_bytes(statement(raw_), column))};
}
bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement(raw_), column) == SQLITE_NULL;
}

Cell Statement::cell(int column) const {
  Cell cell;
  switch (sqlite3_column_type(statement(raw_), column)) {
    case SQLITE_INTEGER:
      cell.type = Cell::Type::integer;
      cell.integer = integer(column);
      break;
    case SQLITE_FLOAT:
      cell.type = Cell::Type::real;
      cell.real = real(column);
      break;
    case SQLITE_NULL:
      break;
    default:
      cell.type = Cell::Type::text;
      cell.text = text(column);
  }
  return cell;
}

// -- a database

Result<Database> Database::open(const fs::path& file, Mode mode) {
  std::error_code unknown;
  if (mode != Mode::create && !fs::exists(file, unknown)) {
    return Error{ErrorCode::not_found, file.string() + ": no such file"};
  }
  Database made;
  sqlite3* raw = nullptr;
  const int flags = mode == Mode::read    ? SQLITE_OPEN_READONLY
                    : mode == Mode::write ? SQLITE_OPEN_READWRITE
                                          : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int result = sqlite3_open_v2(file.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  made.raw_ = raw;
  if (result != SQLITE_OK) {
    auto error = error_of(raw, result);
    error.text = file.string() + ": " + error.text;
    return error;
  }
  sqlite3_busy_timeout(raw, busy_ms);
  // A file that was tampered with must not run anything.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return made;
}

Result<Database> Database::in_memory() { return open(":memory:", Mode::create); }

Database::~Database() { sqlite3_close_v2(db(raw_)); }

Status Database::run(const std::string& sql) {
  const int result = sqlite3_exec(db(raw_), sql.c_str(), nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) return error_of(db(raw_), result);
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* raw = nullptr;
  const int result = sqlite3_prepare_v3(db(raw_), sql.data(), static_cast<int>(sql.size()), 0, &raw, nullptr);
  if (result != SQLITE_OK) return error_of(db(raw_), result);
  if (raw == nullptr) return Error{ErrorCode::invalid, "there is no statement in it"};
  Statement made;
  made.raw_ = raw;
  return made;
}

Status Database::forbid_writing() { return run("PRAGMA query_only = 1"); }

std::uint64_t Database::bytes() const {
  const auto number = [this](const char* pragma) -> std::uint64_t {
    auto asked = prepare(pragma);
    if (!asked) return 0;
    auto row = asked->step();
    return row && *row ? static_cast<std::uint64_t>(asked->integer(0)) : 0;
  };
  return number("PRAGMA page_count") * number("PRAGMA page_size");
}

}  // namespace thalweg::journal
