#pragma once

#include <thalweg/result.hpp>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

/// How a run of several nodes is, asked from outside of it: by `thalweg status`, or by a program of yours.
namespace thalweg {

struct InquiryOptions {
  std::string root;                          ///< where the run's root listens: "host:7000", "[::1]:7000"
  std::filesystem::path keys;                ///< folder of a node's keys, as `thalweg keys node` makes it
  std::chrono::milliseconds patience{5000};  ///< for each answer
};

/// A connection to a run's root over which it can be asked any number of times. Not for several threads.
class Inquiry {
 public:
  /// Connects. Fails: `not_found` for keys that are not there; `invalid` for an address that is none;
  /// `unreachable` with each address and why.
  static Result<Inquiry> open(const InquiryOptions& options);

  /// One JSON object: run, term, state, workers, version, loss, nodes, and who waits for whom since when; the
  /// README lists the fields. Fails: `failed` when the root refuses; `unreachable` when it does not answer.
  Result<std::string> ask();

  Inquiry(Inquiry&&) noexcept;
  Inquiry& operator=(Inquiry&&) noexcept;
  ~Inquiry();

 private:
  struct State;
  explicit Inquiry(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace thalweg
