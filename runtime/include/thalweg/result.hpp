#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

/// How expected failures are reported. Anything that peers, files, devices or users can get wrong
/// comes back as a `Result`; a bug ends the program through THALWEG_CHECK; no exception crosses this
/// interface.
namespace thalweg {

enum class ErrorCode {
  invalid,      ///< what the user typed or wrote in the job file is wrong; programs exit with 2
  not_found,    ///< a file, folder, device or name does not exist
  corrupt,      ///< a file is truncated, foreign or damaged
  mismatch,     ///< two things that belong together do not fit, as a checkpoint and a model
  busy,         ///< something is in use by somebody else, as a locked run folder
  io,           ///< the operating system refused: disk full, no permission
  diverged,     ///< numbers are no longer finite
  unreachable,  ///< who is needed cannot be reached, or no longer
  failed,       ///< anything else that went wrong at run time
};

/// An error and its text, in the form "what failed: why: what to do".
struct Error {
  ErrorCode code = ErrorCode::failed;
  std::string text;
};

/// The exit code a program ends with after `code`: 2 for `invalid`, 1 for everything else.
constexpr int exit_code_of(ErrorCode code) { return code == ErrorCode::invalid ? 2 : 1; }

/// A `T` or the `Error` that says why there is none.
/// Requires: `value()` only when `ok()`, `error()` only when not; anything else throws
/// std::bad_variant_access, since it is a bug in the caller.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & { return std::get<0>(state_); }
  [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
  [[nodiscard]] const Error& error() const { return std::get<1>(state_); }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value, or an `Error`.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const { return error_.value(); }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace thalweg
