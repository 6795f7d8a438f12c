#pragma once

#include "tests/sim/checker.hpp"

#include <cstdint>
#include <ostream>
#include <string>

namespace thalweg::sim {

/// The run as a list of what happened: hashed, so that two runs can be compared, and printed when somebody
/// wants to read it.
class Trace final : public Checker {
 public:
  /// `out` null: only hashed.
  explicit Trace(std::ostream* out = nullptr) : Checker("trace"), out_(out) {}

  void sent(const Message& message) override;
  void delivered(const Message& message) override;
  void handled(std::string_view who, const Stamp& stamp) override;
  void decided(std::string_view who, const rules::Reason& reason) override;
  void waits(std::string_view who, std::string_view for_whom, const rules::Reason& until) override;
  void computes(std::string_view who, bool busy) override;
  void dies(std::string_view who) override;
  void pauses(Time now, bool for_ever) override;

  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  [[nodiscard]] std::uint64_t messages() const { return messages_; }

 private:
  void mix(std::string_view text);
  void mix(std::uint64_t number);

  std::ostream* out_;
  std::uint64_t hash_ = 14695981039346656037U;  // FNV-1a, 64 bits
  std::uint64_t messages_ = 0;
};

/// A message in a line: "parameters 3 (committed 24)".
std::string text_of(const Message& message);

}  // namespace thalweg::sim
